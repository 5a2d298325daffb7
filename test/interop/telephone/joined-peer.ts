// Telephones of other makers as legs of bridges and rooms: each says one sentence again and again, and keeps
// what it hears.
import type { TestContext } from 'node:test';
import { until } from '../../fakes/until.js';
import { Baresip, type BaresipOptions } from './baresip.js';
import { kept } from './kept.js';
import { Linphone, type LinphoneOptions } from './linphone.js';
import { RtpPeer } from './rtp-peer.js';
import { g711Sound, heardDigits } from './rtp-record.js';
import { Sipp, type SippOptions } from './sipp.js';
import type { TelephoneServer } from './telephone-server.js';

const RATE = 8000;
const SAID_S = 25;

/** Samples are of 8 kHz. */
export interface JoinedPeer {
  /** Id of its call at the server. */
  readonly id: string;
  /** The sentence that it says. */
  readonly says: Float32Array;
  /** Everything that it has heard; of Linphone only when its call is over. */
  heard(): Float32Array;
  press(digit: string): Promise<void>;
  /** Digits that it has heard, as far as it tells. */
  digits(): readonly string[];
  hold(isHeld: boolean): Promise<void>;
  /** Asks the server to call somebody in its place. */
  refer(uri: string): Promise<void>;
  hangUp(): Promise<void>;
}

/** The sentence with half a second of silence, for as long as a test lasts. */
function again(sentence: Float32Array): Float32Array {
  const length = sentence.length + RATE / 2;
  const said = new Float32Array(SAID_S * RATE);
  for (let at = 0; at + length <= said.length; at += length) said.set(sentence, at);
  return said;
}

/** The id of the call that `begins` opens. */
async function callOf(
  { telephone }: TelephoneServer,
  begins: () => void | Promise<unknown>,
): Promise<string> {
  const known = new Set(telephone.list().map(({ id }) => id));
  await begins();
  const isNew = ({ id, state }: { id: string; state: string }) => state === 'connected' && !known.has(id);
  await until(() => telephone.list().some(isNew));
  return telephone.list().find(isNew)?.id ?? '';
}

function uriOf(server: TelephoneServer, transport: 'udp' | 'tcp' | 'tls' = 'udp'): string {
  const { port } = transport === 'tls' ? server.tlsAddress : server.address;
  return `sip:wait@127.0.0.1:${port};transport=${transport}`;
}

export async function baresipIn(
  t: TestContext,
  server: TelephoneServer,
  says: Float32Array,
  options: BaresipOptions = {},
): Promise<JoinedPeer> {
  const baresip = await kept(
    t,
    Baresip.start({ codecs: ['PCMU/8000/1'], ...options, says: { samples: again(says), rate: RATE } }),
  );
  const id = await callOf(server, () => baresip.command('dial', uriOf(server, options.transport)));
  return {
    id,
    says,
    heard: () => baresip.heard().samples,
    press: async (digit) => void (await baresip.command('sndcode', digit)),
    digits: () =>
      [...baresip.output.matchAll(/received event: '(.)' \(end=1\)/g)].map(([, digit = '']) => digit),
    hold: async (isHeld) => void (await baresip.command(isHeld ? 'hold' : 'resume')),
    refer: async (uri) => void (await baresip.command('transfer', uri)),
    hangUp: async () => void (await baresip.command('hangup')),
  };
}

export async function linphoneIn(
  t: TestContext,
  server: TelephoneServer,
  says: Float32Array,
  options: LinphoneOptions = {},
): Promise<JoinedPeer & Pick<Linphone, 'established'>> {
  const linphone = await kept(
    t,
    Linphone.start({ codecs: ['PCMU'], ...options, says: { samples: again(says), rate: RATE } }),
  );
  const id = await callOf(server, async () => {
    linphone.dial(uriOf(server, options.transport));
    await linphone.established();
  });
  return {
    id,
    says,
    heard: () => linphone.heard().samples,
    press: async (digit) => linphone.press(digit),
    digits: () => [],
    hold: async (isHeld) => linphone.command(isHeld ? 'pause 1' : 'resume 1'),
    refer: async (uri) => linphone.command(`transfer 1 ${uri}`),
    hangUp: () => linphone.hangUp(),
    established: (call) => linphone.established(call),
  };
}

/** What SIPp signals, with G.711 of the µ-law. Its scenario decides what it does and when. */
export interface ScriptedPeer extends Pick<JoinedPeer, 'id' | 'says' | 'heard' | 'digits' | 'press'> {
  readonly rtp: RtpPeer;
  readonly sipp: Sipp;
}

export async function sippIn(
  t: TestContext,
  server: TelephoneServer,
  says: Float32Array,
  scenario: string,
  options: SippOptions = {},
): Promise<ScriptedPeer> {
  const rtp = await kept(t, RtpPeer.open());
  const keys = { rtp_port: rtp.port, ...options.keys };
  let sipp: Sipp | undefined;
  const id = await callOf(server, async () => {
    const all = { service: 'wait', limitS: 40, ...options, keys };
    sipp = await kept(t, Sipp.call(server.address, scenario, all));
    await until(() => rtp.source !== undefined);
  });
  if (sipp === undefined) throw new Error('SIPp did not start');
  const stream = rtp.stream(rtp.source ?? server.address);
  void stream.play(again(says));
  return {
    id,
    says,
    rtp,
    sipp,
    heard: () => g711Sound(rtp.heard),
    digits: () => heardDigits(rtp.heard).map(({ digit }) => digit),
    press: (digit) => stream.press(digit),
  };
}
