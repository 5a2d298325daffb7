// The environment variables of calls that come from a telephone system, by section: over SIP, and over
// Asterisk's AudioSocket. They are part of the table in variables.ts.
import type { VariableSection } from './environment.js';

export const TELEPHONE_SECTIONS = {
  'SIP: listening and callers': {
    SIP_ENABLED: { meaning: '0 switches telephone calls off' },
    SIP_HOST: {
      meaning:
        'comma-separated addresses to listen on for SIP; others than loopback need SIP_ALLOW, SIP_CHALLENGE or SIP_TRUNKS',
      default: '127.0.0.1',
    },
    SIP_PORT: {
      meaning:
        'port of SIP over UDP and TCP; 0 lets the system choose; if it is set, the server starts only if it gets it',
    },
    SIP_TLS_PORT: { meaning: 'port of SIP over TLS', default: 'none' },
    SIP_TLS_CERT: {
      meaning: 'certificate file (PEM) of SIP, together with SIP_TLS_KEY',
      default: 'TLS_CERT',
    },
    SIP_TLS_KEY: { meaning: 'private key file (PEM)', default: 'TLS_KEY' },
    SIP_TLS_CA: {
      meaning:
        'file of the certificate authorities (PEM) that TLS peers are verified with; read again when it changes',
      default: "the system's",
    },
    SIP_TLS_CLIENT_CERTS: { meaning: '1 requires a certificate of such an authority from every TLS client' },
    PUBLIC_ADDRESS: {
      meaning: 'comma-separated addresses that phones should use, if they differ from those of this machine',
      default: 'the addresses listened on',
    },
    SIP_ALLOW: {
      meaning: 'comma-separated addresses and networks whose calls are accepted',
      default: 'this machine; none with SIP_CHALLENGE',
    },
    SIP_CHALLENGE: {
      meaning:
        'comma-separated addresses and networks whose calls are accepted with a password of SIP_USERS_FILE',
      default: 'none',
    },
    SIP_USERS_FILE: { meaning: 'file of callers, one name:password per line', default: 'none' },
    SIP_REALM: { meaning: 'realm of their passwords', default: 'parley' },
    SIP_DIGEST: {
      meaning: 'comma-separated hashes of the challenges, preferred first',
      default: 'MD5',
      values: 'MD5, SHA-256, SHA-512-256',
    },
    SIP_RATE: {
      meaning:
        'requests per second of one source, ten seconds of them at once; above it 503 without Retry-After, and no answer to sources of SIP_CHALLENGE',
    },
    SIP_CALL_HEADERS: {
      meaning:
        'comma-separated header fields of inbound calls that applications may see, * for any characters; - for none',
      default: 'X-*,Diversion,User-to-User,P-Asserted-Identity',
    },
  },
  'SIP: calls': {
    SIP_ROUTES: { meaning: 'JSON file of rules that answer calls', default: 'none' },
    GREETING: {
      meaning: 'text that callers hear if no rule matches',
      default: 'Hello. This is Parley. What you hear is set by the variable GREETING.',
      values: '5000 characters',
    },
    GREETING_VOICE: { meaning: 'voice of the greeting', default: 'DEFAULT_VOICE' },
    GREETING_LANGUAGE: {
      meaning: 'language of the greeting, such as en',
      default: 'identified from the text',
    },
    SIP_RING: { meaning: 'seconds of ringing before a call without a matching rule is answered' },
    SIP_SILENCE_LIMIT: {
      meaning: 'seconds without speech, digits or commands after which a call is ended; 0 sets no limit',
    },
    SIP_SESSION_EXPIRES: {
      meaning:
        'seconds without a session refresh (RFC 4028) after which a call is ended, at least SIP_MIN_SE; 0 asks for no refreshes',
    },
    SIP_MIN_SE: { meaning: 'shortest session time that is accepted from peers, in seconds' },
    SIP_TRANSFERS: { meaning: 'callers who may have this server place a call for them (REFER)' },
    SIP_CODECS: {
      meaning: 'comma-separated codecs of telephone calls, preferred first',
      default: 'G722,opus,PCMU,PCMA',
      values: 'PCMU, PCMA, G722, opus',
    },
  },
  'SIP: outbound calls': {
    SIP_TRUNKS: { meaning: 'JSON file of the trunks that calls go out through', default: 'none' },
    SIP_DIRECT_CALLS: { meaning: '0 rejects SIP URIs at the domain of no trunk' },
    SIP_REDIRECTIONS: { meaning: '1 follows 3xx responses to calls, five at most, to allowed destinations' },
    SIP_DESTINATIONS: {
      meaning:
        'comma-separated prefixes of numbers that may be called, @host for any user of a host, * for all others; +49=60 allows 60 calls per minute, +49900=0 none',
      default: 'all',
    },
    SIP_CALLS_PER_MINUTE: { meaning: 'calls per minute that each API key may place; 0 sets no limit' },
  },
  'SIP: media': {
    RTP_PORT_MIN: { meaning: 'first UDP port of telephone audio; each call takes two ports' },
    RTP_PORT_MAX: {
      meaning: 'last UDP port of telephone audio; below the ports that the system gives to other programs',
    },
    RTP_PORT_DRAIN: { meaning: 'seconds for which a pair of ports rests after its call' },
    RTP_DSCP: { meaning: 'DSCP of the packets; 46 is Expedited Forwarding' },
    RTP_TIMEOUT: {
      meaning: 'seconds without a packet after which a telephone call that had audio ends; 0 means never',
    },
    RTP_LATCH_NETWORKS: {
      meaning:
        'comma-separated addresses and networks from which audio of any telephone call is accepted, besides the announced address and the address of the signalling',
      default: 'none',
    },
    SRTP: { meaning: 'encryption of telephone audio' },
    SRTP_KEYING: {
      meaning: 'comma-separated key exchanges of SRTP, preferred first',
      default: 'sdes,dtls over TLS, otherwise dtls,sdes',
      values: 'sdes, dtls',
    },
    RTP_COMFORT_NOISE: { meaning: '1 offers comfort noise (RFC 3389) and sends it in pauses' },
  },
  'Asterisk AudioSocket': {
    AUDIOSOCKET_PORT: {
      meaning: "TCP port to which Asterisk's AudioSocket brings calls; 0 lets the system choose",
      default: 'no calls over AudioSocket',
    },
    AUDIOSOCKET_ADDRESS: {
      meaning: 'address to listen on; one that other machines reach needs AUDIOSOCKET_ALLOW',
      default: '127.0.0.1',
    },
    AUDIOSOCKET_ALLOW: { meaning: 'comma-separated networks that may connect', default: 'this machine' },
    AUDIOSOCKET_AGENT: { meaning: 'agent of these calls, or none', default: 'the one of other calls' },
    AUDIOSOCKET_UNANSWERED_SECONDS: {
      meaning: 'seconds after which a call ends that no agent takes and no application joins',
    },
    AUDIOSOCKET_KEY: {
      meaning: 'name of the API key that these calls belong to: clients with another key do not see them',
      default: 'they belong to every key',
      values: 'a name of API_KEYS or API_KEYS_FILE',
    },
  },
} as const satisfies Readonly<Record<string, VariableSection>>;
