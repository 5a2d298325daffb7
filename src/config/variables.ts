// Every environment variable of the server by section, for the readers' types and for
// public/docs/configuration.md. The readers state the ranges, choices and most defaults; this table adds the
// meaning and what no reader can state. Those of telephone calls are in telephone-variables.ts. After a
// change run: npm run docs:configuration
import type { VariableEntry, VariableSection } from './environment.js';
import { TELEPHONE_SECTIONS } from './telephone-variables.js';

export const SECTIONS = {
  'Address and access': {
    HOST: {
      meaning: 'address to listen on; other machines need API_KEYS, API_KEYS_FILE or ALLOW_OPEN=1',
      default: '127.0.0.1',
    },
    PORT: { meaning: 'TCP port of HTTP; 0 lets the system choose' },
    UDS_PATH: {
      meaning: 'Unix socket to listen on, in addition to the port',
      default: 'none',
      values: 'a path of at most 107 bytes',
    },
    TLS_CERT: {
      meaning: 'certificate file (PEM), together with TLS_KEY; HTTPS instead of HTTP',
      default: 'none',
    },
    TLS_KEY: { meaning: 'private key file (PEM)', default: 'none' },
    API_KEYS: {
      meaning:
        'comma-separated keys, each optionally preceded by a name and a space; a request must carry one, except for the page, /docs, /guide and /health',
      default: 'none',
      values: '16 characters or more each',
    },
    API_KEYS_FILE: { meaning: 'file of keys, one per line; read again when it changes', default: 'none' },
    ALLOW_OPEN: { meaning: '1 allows a HOST that other machines reach, without keys' },
    CORS_ORIGINS: {
      meaning: 'comma-separated origins of other web pages that may use the server',
      default: 'none',
    },
    RATE_LIMIT: {
      meaning: 'requests that each key or address may make at once, and again per minute; 0 sets no limit',
    },
    MAX_SOCKETS: { meaning: 'WebSockets open at once' },
    PROMETHEUS_ENABLED: { meaning: '0 switches /metrics off' },
  },
  Engines: {
    ENGINE: { meaning: 'the speech engine' },
    ESPEAK: {
      meaning:
        '1 uses espeak (GPL-3.0) if its package is installed; otherwise languages other than English need a checkpoint',
    },
    POCKET_MODELS: {
      meaning:
        'comma-separated models of Pocket TTS, one for each language: names that parley pull takes, such as pocket-de, or folders; none uses no model',
      default: 'all that are complete in the Hugging Face cache',
    },
    POCKET_NONCOMMERCIAL: {
      meaning: '1 lets voices of Pocket TTS speak whose licence forbids commercial use',
    },
    TTS_BASE_URL: {
      meaning: 'comma-separated addresses of OpenAI-compatible speech servers, such as http://gpu1:8000/v1',
      default: 'no speech servers',
      values: 'http or https URLs',
    },
    TTS_API_KEY: { meaning: 'key that TTS_BASE_URL is sent', default: 'none' },
    TTS_MODEL: { meaning: 'model of TTS_BASE_URL', default: 'none; it must be set' },
    TTS_VOICES: {
      meaning: 'their voices, comma-separated: voice or name=voice',
      default: 'none; it must be set',
    },
    TTS_LANGUAGES: { meaning: 'comma-separated languages that they speak, best first', default: 'en' },
    TTS_DIALECT: { meaning: 'fields that they take: openai, or vllm (also the language; vLLM-Omni, Parley)' },
    DEFAULT_VOICE: {
      meaning: 'voice of requests that name none; may be a voice that was created over HTTP',
      default: "the engine's first voice",
    },
    MODEL_DIR: {
      meaning:
        'folder of a Qwen3-TTS or Pocket TTS model, which ENGINE=auto then uses; takes precedence over MODEL_ID',
      default: 'no native engine',
    },
    MODEL_ID: {
      meaning:
        'name of the model in /v1/models; if it is a folder, or a model in the Hugging Face cache such as Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice, also the checkpoint',
      default: 'parley',
    },
    STRICT_MODELS: { meaning: '1 rejects requests that name a model outside /v1/models' },
    PRELOAD_MODEL: { meaning: '1 loads the engines at the start, 0 at the first use' },
    IDLE_TIMEOUT: { meaning: 'seconds without work after which an engine is unloaded; 0 keeps it loaded' },
    ENGINE_TIMEOUT: { meaning: 'seconds that the synthesis of one sentence may take' },
    SILENCE_THRESHOLD_DB: { meaning: 'level in dBFS below which the edges of a sentence count as silence' },
    LEXICON_FILE: {
      meaning: 'JSON file of words and how they are spoken; read at the start',
      default: 'none',
    },
    TEXT_TABLES_DIR: {
      meaning: 'folder of word tables, {language}/{class}.tsv, for all texts; read again when a file changes',
      default: 'none',
    },
    KEY_TABLES_DIR: {
      meaning: 'folder of the word tables that API keys store over HTTP',
      default: 'text-tables',
    },
    ELEVENLABS_VOICES_FILE: {
      meaning: 'JSON file that maps ids of ElevenLabs voices to voices of this server; read at the start',
      default: 'none',
    },
  },
  Recognition: {
    ASR_ENGINE: {
      meaning:
        'the recogniser; auto takes the checkpoint of ASR_MODEL_DIR or ASR_MODEL_ID, or the servers of ASR_BASE_URL, and else Moonshine for the languages of its models',
    },
    ASR_MODEL_DIR: {
      meaning:
        'folder of a Qwen3-ASR checkpoint, or of a Moonshine model; takes precedence over ASR_MODEL_ID',
      default: 'the Moonshine models of MOONSHINE_MODELS; without one speech is not recognised',
    },
    ASR_MODEL_ID: {
      meaning:
        'a Qwen3-ASR checkpoint in the Hugging Face cache, such as Qwen/Qwen3-ASR-0.6B, a Moonshine model, such as moonshine-small-en, or a folder of either',
      default: 'none',
    },
    MOONSHINE_MODELS: {
      meaning:
        'comma-separated models of Moonshine, one for each language: names that parley pull takes, such as moonshine-small-de, or folders; none uses no model',
      default:
        'all that are complete in the Hugging Face cache, of English the first of small, medium and tiny',
    },
    ASR_WORKERS: {
      meaning: 'threads that recognise speech with Moonshine; each loads its models',
      default: '1 on fewer than 4 cores, else 2',
    },
    ASR_MEMORY: {
      meaning:
        'most memory of the recogniser with its weights, on the device that it shares with other models: bytes, or a share of the device; each language of Pocket TTS has so much by itself',
      default: 'from what is free on the device',
      values: 'such as 40G or 50%',
    },
    ASR_FAST_MODEL_DIR: {
      meaning:
        'folder of a smaller Qwen3-ASR checkpoint for the partial texts of live sound; the final texts come from the other model',
      default: 'one model tells both',
    },
    ASR_FAST_MODEL_ID: {
      meaning: 'the same in the Hugging Face cache, such as Qwen/Qwen3-ASR-0.6B',
      default: 'none',
    },
    ASR_FAST_MEMORY: {
      meaning: 'as ASR_MEMORY, for the smaller checkpoint',
      default: 'from what is free on the device',
      values: 'such as 40G or 50%',
    },
    ASR_BASE_URL: {
      meaning:
        'comma-separated addresses of OpenAI-compatible transcription servers with the same model, which recognise speech instead of a checkpoint, such as https://api.openai.com/v1',
      default: 'none',
      values: 'http or https URLs',
    },
    ASR_API_KEY: { meaning: 'key that ASR_BASE_URL is sent', default: 'none' },
    ASR_MODEL: { meaning: 'model of ASR_BASE_URL', default: 'none; it must be set' },
    ASR_REALTIME: {
      meaning:
        "partial texts through a realtime socket of ASR_BASE_URL: openai (OpenAI's messages), vllm (vLLM's), or off (the text of a turn comes at its end)",
    },
    ASR_STREAMING: {
      meaning:
        'streaming of live speech: draft (each pass verifies the text of the last one; its beginning is stable), or official (the procedure of the reference package)',
    },
    ASR_PARTIAL_INTERVAL_MS: {
      meaning: 'shortest time between partial texts; they take longer where the machine does',
      default: '320; with Moonshine 480',
    },
    ASR_SMART_FORMAT: {
      meaning:
        '1 writes recognised speech with figures, dates and amounts (English, French, German, Spanish), where a request or call does not state smart_format',
    },
    ALIGNER_MODEL_DIR: {
      meaning: 'folder of a Qwen3-ForcedAligner checkpoint; takes precedence over ALIGNER_MODEL_ID',
      default: 'words are not timed',
    },
    ALIGNER_MODEL_ID: {
      meaning:
        'a Qwen3-ForcedAligner checkpoint in the Hugging Face cache, such as Qwen/Qwen3-ForcedAligner-0.6B, or its folder',
      default: 'none',
    },
    ALIGNER_MEMORY: {
      meaning: 'as ASR_MEMORY, for the aligner',
      default: 'from what is free on the device',
      values: 'such as 40G or 50%',
    },
    ALIGNER_KOREAN_WORDS: {
      meaning: 'file of Korean nouns, one a line, after which the aligner divides words',
      default: 'none: words are divided at spaces',
    },
    MAX_TRANSCRIPTIONS: { meaning: 'files transcribed over HTTP at once; more wait (MAX_QUEUE_DEPTH)' },
    MAX_TRANSCRIPTION_BYTES: { meaning: 'bytes of a file to transcribe' },
    MAX_TRANSCRIPTION_SECONDS: { meaning: 'length of the sound of a file to transcribe' },
    TRANSLATE_BASE_URL: {
      meaning:
        'address of an OpenAI-compatible chat server that translates transcripts, such as https://api.openai.com/v1',
      default: 'texts are not translated',
      values: 'an http or https URL',
    },
    TRANSLATE_API_KEY: { meaning: 'key that TRANSLATE_BASE_URL is sent', default: 'none' },
    TRANSLATE_MODEL: { meaning: 'chat model of TRANSLATE_BASE_URL', default: 'none; it must be set' },
    TRANSLATE_OPTIONS: {
      meaning: 'fields that each request to TRANSLATE_BASE_URL has in addition, see AGENT_LLM_OPTIONS',
      default: 'none',
      values: 'a JSON object',
    },
  },
  Agents: {
    AGENT_LLM_URL: {
      meaning:
        'address of an OpenAI-compatible chat server, such as http://127.0.0.1:11434/v1: its model then talks in every call, unless the call names another agent or none',
      default: 'no agent takes calls',
      values: 'an http or https URL',
    },
    AGENT_LLM_API_KEY: { meaning: 'key that AGENT_LLM_URL is sent', default: 'none' },
    AGENT_LLM_MODEL: { meaning: 'chat model of AGENT_LLM_URL', default: 'none; it must be set' },
    AGENT_LLM_OPTIONS: {
      meaning:
        'fields that each request to AGENT_LLM_URL has in addition; {"reasoning_effort":"none"} switches thinking off in Ollama, {"chat_template_kwargs":{"enable_thinking":false}} in vLLM and llama.cpp',
      default: 'none',
      values: 'a JSON object',
    },
    AGENT_PROMPT: {
      meaning: 'system prompt of the agent, or @ and the path of a file with it',
      default: 'a helpful assistant in a telephone call',
      values: 'at most 32,000 characters',
    },
    AGENT_GREETING: {
      meaning: 'what the agent says when the call begins',
      default: 'nothing: the caller speaks first',
      values: 'at most 1000 characters',
    },
    AGENT_VOICE: { meaning: 'voice of the agent', default: 'DEFAULT_VOICE' },
    AGENT_LANGUAGE: {
      meaning: 'language of the conversation (BCP 47), for voice and recogniser',
      default: 'it is found in what is said',
    },
    AGENT_IDLE_TIMEOUT: {
      meaning:
        'seconds in which neither side speaks, after which the agent asks whether the caller is still there; it asks twice, and then ends the call',
      default: '0: a caller may be silent',
      values: '0 to 3600',
    },
    AGENT_EARLY_START_MS: {
      meaning:
        'milliseconds from a pause, which is found after 160 ms of silence, until the model is asked although the turn may go on; the answer is thrown away if it does, and costs its tokens; 0 asks when the turn is over',
    },
    AGENTS_FILE: {
      meaning: 'JSON file of more agents, with transfers, functions and phrases of each; read at the start',
      default: 'none',
    },
    RELAY_ALLOWED_HOSTS: {
      meaning: 'comma-separated hosts of applications that requests may name; host, host:port or *.domain',
      default: 'none: requests may name no application',
    },
    RELAY_AUTH_TOKEN: { meaning: 'secret that signs their handshakes (16 characters)', default: 'none' },
  },
  'Model hub': {
    HF_ENDPOINT: {
      meaning:
        'http(s) address of the hub that `parley pull` fetches checkpoints from; the server fetches none',
      default: 'https://huggingface.co',
    },
    MOONSHINE_ENDPOINT: {
      meaning:
        'http(s) address of the server that `parley pull` fetches models of Moonshine from, at {endpoint}/model/{name}/{revision}/{file}',
      default: 'https://download.moonshine.ai',
    },
    HF_TOKEN: {
      meaning: 'token for checkpoints that are not open to everybody; sent to HF_ENDPOINT only',
      default: 'none',
    },
  },
  'Native engine': {
    DEVICE: {
      meaning:
        'device of the native engine, its voice, recogniser and aligner: auto (a GPU if one is usable), cpu, cuda, or cuda:1 for the second GPU',
      default: 'auto',
      values: 'auto, cpu, cuda, cuda:N',
    },
    QUANTIZE: {
      meaning:
        'weights of the native engine: none, int8, int8-talker (all but the code predictor), fp8 (E4M3, for the matrices of int8-talker); embedded engines ignore it, recogniser and aligner take none and int8',
    },
    CODEC_FORMAT: {
      meaning: 'weights of its codec; tensors that the checkpoint stores in 16 bits stay as they are',
      default: 'f32 on a CPU, bf16 on a GPU',
    },
    CONTINUITY: { meaning: 'unit of one generation: each sentence, or as much of an utterance as possible' },
    SPEECH_MEMORY: {
      meaning:
        'most memory of the voice with its weights, on the device that it shares with other models: bytes, or a share of the device',
      default: 'from what is free on the device',
      values: 'such as 40G or 50%',
    },
    MAX_STREAMS: {
      meaning: 'sentences that it synthesises at once; each language of Pocket TTS has so many by itself',
    },
    MAX_BATCH: { meaning: 'sentences of these in one step of the model; 0 sets no limit' },
    MAX_NEW_TOKENS: {
      meaning: 'codec frames that one sentence may have',
      default: 'derived from the length of its text; 2048 if a request names a limit',
    },
    CUDA_GRAPHS: { meaning: '0 runs the native engine without CUDA graphs' },
    FULL_VECTORS: {
      meaning:
        '1 keeps 16 bits of activations that meet weights of bf16 or 8 bits on a GPU, as the CPU does, instead of rounding them to bf16; closer to the CPU, at up to twice the time',
    },
    INFERENCE_THREADS: {
      meaning: 'threads of the native engine',
      default: 'one per core, of the NUMA node if one is named',
    },
    INFERENCE_CPU_CORES: {
      meaning: 'cores of the native engine',
      default: 'the system chooses',
      values: 'such as 0-3,6',
    },
    INFERENCE_NUMA_NODE: {
      meaning: 'NUMA node whose cores and memory the native engine uses',
      default: 'the system chooses',
      values: 'a node of this machine',
    },
  },
  'Texts, queue and caches': {
    MAX_TEXT_LENGTH: { meaning: 'characters of one text' },
    MAX_WAITING_UTTERANCES: { meaning: 'texts that may wait in one call behind the one being spoken' },
    MAX_QUEUE_DEPTH: {
      meaning:
        'sentences of calls that may wait for an engine, and as many of WebSockets and of HTTP; above it 503 with Retry-After; 0 means 100000',
    },
    TEXT_IDLE_TIMEOUT: { meaning: 'seconds without a token after which an unfinished text fails' },
    FIRST_PIECE: {
      meaning:
        'what a call begins to speak of a text that comes in tokens: its first clause, which is heard sooner, or its first sentence, whose intonation is that of a whole',
    },
    REQUEST_TIMEOUT: {
      meaning:
        'seconds until the first audio of an HTTP request, and that a sentence may wait for its engine; above it 504',
    },
    AUDIO_CACHE_MAX: { meaning: 'HTTP renderings kept in memory; 0 keeps none' },
    AUDIO_CACHE_BYTES: { meaning: 'bytes that they may take together' },
    FRAME_CACHE_BYTES: { meaning: 'bytes of encoded sentences kept for calls; 0 keeps none' },
    SOUND_CACHE_BYTES: {
      meaning: 'bytes of decoded sounds kept for `play`: 96,000 a second of sound; 0 keeps none',
    },
    REDIS_URL: {
      meaning: 'address of a Redis in which servers share HTTP renderings',
      default: 'none',
      values: 'redis:// or rediss://',
    },
    REDIS_TTL: { meaning: 'seconds for which it keeps a rendering' },
  },
  Voices: {
    VOICES_DIR: {
      meaning: 'folder of voices that were created over HTTP; servers may share one',
      default: 'voices',
    },
    VOICE_CACHE_MAX: { meaning: 'voices of VOICES_DIR that are kept in memory' },
    REFERENCE_URLS: {
      meaning:
        '1 allows reference audio by http(s) URL; never from private addresses, nor from ports below 1024 other than 80 and 443',
    },
    MAX_UPLOAD_BYTES: { meaning: 'bytes of a reference audio' },
  },
  Calls: {
    MAX_CALLS: { meaning: 'calls open at once' },
    MAX_CALLS_PER_CLIENT: {
      meaning:
        'calls that each key or address may have at once, except telephones of SIP_ALLOW; 0 means MAX_CALLS',
    },
    MAX_HALF_OPEN_PER_CLIENT: {
      meaning:
        'calls of one key or address that may be in set-up (SIP: until the ACK, or media from the caller); 0 means a quarter of MAX_CALLS, but at least 4',
    },
    SETUP_TIMEOUT: { meaning: 'seconds within which a browser call must be connected' },
    SOUNDS_DIR: {
      meaning:
        'folder of the sounds that calls play by file name: WAV, MP3, FLAC, Ogg Opus or WebM Opus, at most 10 minutes and 64 MiB each',
      default: 'none',
    },
    TONE_COUNTRY: {
      meaning:
        'country (ISO 3166-1) whose ring-back, busy and reorder tones callers hear, and which are known in the sound of far ends',
    },
    DRAIN_TIMEOUT: {
      meaning:
        'seconds that calls get to end by themselves after SIGTERM; the server accepts no new calls meanwhile',
    },
    HANG_UP_PHRASE: {
      meaning:
        'text that a call hears, from an engine that still works, before it ends because its own engine lost the GPU; - for nothing',
      default: 'We are sorry, this call cannot go on. Please call again later. Goodbye.',
      values: '300 characters',
    },
    RESUME_GRACE_S: {
      meaning: 'seconds that a browser call whose connection is lost waits for its client to resume it',
    },
    MAX_CPU_PERCENT: {
      meaning:
        'share of the processor above which the server accepts no further call; 0 switches off this limit and that of the main thread',
    },
    ENCODER_WORKERS: { meaning: 'encoder threads', default: 'cores − 1' },
    OPUS_APPLICATION: { meaning: 'tuning of the Opus encoder; audio costs half as much' },
    OPUS_COMPLEXITY: { meaning: 'effort of the Opus encoder' },
    OPUS_BITRATE: { meaning: 'bits per second of the Opus encoder' },
  },
  'Calls: network of browsers': {
    ICE_HOST_ADDRESSES: {
      meaning: 'comma-separated addresses of this machine on which browser calls arrive',
      default: 'all interfaces and loopback',
    },
    ICE_ANNOUNCED_ADDRESSES: {
      meaning:
        'comma-separated addresses announced to clients instead, if a NAT maps them one to one to those of this machine',
      default: 'the addresses of this machine',
    },
    WEBRTC_UDP_PORT: {
      meaning:
        'UDP port of all browser calls; 0 lets the system choose; not together with UDP_PORT_MIN and UDP_PORT_MAX',
    },
    UDP_PORT_MIN: {
      meaning:
        'first UDP port of a range in which each browser call has a port of its own, together with UDP_PORT_MAX',
      default: 'all calls share WEBRTC_UDP_PORT',
    },
    UDP_PORT_MAX: { meaning: 'last UDP port of this range', default: 'all calls share WEBRTC_UDP_PORT' },
    WEBRTC_TCP_PORT: {
      meaning:
        'TCP port of browser calls, for clients whose network drops UDP (ICE-TCP, RFC 6544); 0 lets the system choose; not together with UDP_PORT_MIN and UDP_PORT_MAX',
      default: 'no ICE-TCP',
      values: '0 to 65535',
    },
    ICE_SERVERS: {
      meaning:
        'comma-separated STUN and TURN servers announced to clients; turn: and turns: need TURN_SECRET',
      default: 'none',
      values: 'stun:, stuns:, turn: or turns: URLs',
    },
    TURN_SECRET: {
      meaning:
        "secret shared with the TURN servers (coturn's static-auth-secret), for credentials that expire",
      default: 'none',
      values: '16 characters or more',
    },
    TURN_TTL_S: { meaning: 'seconds for which such credentials are valid' },
  },
  Hearing: {
    VAD_MODEL: {
      meaning: 'ONNX file of another model that finds speech, with the inputs and outputs of Silero VAD v5',
      default: 'Silero VAD v5, which comes with the server',
    },
    END_OF_TURN_MODULE: {
      meaning: 'JavaScript module that estimates at each pause of a caller whether the turn is over',
      default: 'none: the length of the silence decides',
    },
    TURN_MODEL: {
      meaning:
        'model that hears whether a caller has finished; auto: the pulled ones (npm run parley -- pull turn-en, or turn-23), by the language of the call; not used with END_OF_TURN_MODULE',
      default: 'auto',
      values: 'auto, none, turn-en, turn-23 or an ONNX file',
    },
    VAD_SENSITIVITY: {
      meaning: 'how little sound counts as speech, for calls that do not state it',
    },
    TURN_SILENCE_MS: { meaning: 'milliseconds of silence that end the turn of a caller' },
    TURN_MIN_SILENCE_MS: {
      meaning:
        'milliseconds of silence that suffice where the sentence is complete; two thirds of them if the turn model is sure as well',
    },
    TURN_MAX_SILENCE_MS: { meaning: 'milliseconds of silence that suffice where the sentence is not' },
    TURN_MIN_SPEECH_MS: {
      meaning: 'milliseconds of speech that a turn, or an interruption of the voice, must have',
    },
    TURN_MAX_MS: { meaning: 'milliseconds after which a turn ends although the caller speaks; 0: no limit' },
    BARGE_IN_IGNORE_BACKCHANNEL: {
      meaning:
        '1 goes on speaking after words of the caller such as "mhm", and after a short sound without words; 0 stops at any speech',
    },
    BARGE_IN_IGNORE_DISTANT: {
      meaning:
        "1 goes on speaking over a voice 10 dB weaker than the caller's, such as a television; 0 stops at any voice",
    },
    BARGE_IN_RESUME_MS: {
      meaning: 'milliseconds after which the paused voice goes on if the sound of the caller was no speech',
    },
  },
  'Call programs': {
    IVR_FILE: {
      meaning: 'JSON file of call programs; read again when it changes',
      default: 'none',
    },
    TWIML_URL: {
      meaning:
        'http(s) address of the TwiML document that conducts incoming telephone calls which neither CALL_INCOMING_URL nor a rule of SIP_ROUTES decides; its host needs no entry in IVR_ALLOWED_HOSTS',
      default: 'none',
    },
    TWIML_AUTH_TOKEN: {
      meaning: 'secret that signs the requests of calls that belong to no API key',
      default: 'none',
      values: '16 characters or more',
    },
    PUBLIC_URL: {
      meaning:
        'http(s) address by which applications reach this server: the addresses of recordings begin with it',
      default: 'that of HOST and PORT',
    },
    IVR_ALLOWED_HOSTS: {
      meaning:
        'comma-separated hosts from which TwiML documents and their sounds are fetched, and which receive their callbacks; host, host:port or *.domain',
      default: 'this machine only',
    },
  },
  ...TELEPHONE_SECTIONS,
  Recordings: {
    RECORDINGS_DIR: {
      meaning:
        'folder of recorded calls; without it nothing can be recorded; the server starts only if it can write there',
      default: 'none',
    },
    RECORDING_FORMAT: { meaning: 'format of recordings that are started without one' },
    RECORDING_MAX_SECONDS: { meaning: 'seconds after which a recording ends; the call continues' },
    RECORDING_MAX_TOTAL_BYTES: {
      meaning:
        'bytes of all recordings together, above which the oldest are removed; 0 sets no limit, others are 1000000 or more',
    },
    RECORDING_MAX_AGE_DAYS: {
      meaning: 'days after which a recording is removed; 0 keeps recordings for ever',
    },
  },
  'Log, records and captures': {
    LOG_LEVEL: { meaning: 'lowest level that is logged' },
    LOG_STYLE: { meaning: 'lines for people (text) or JSON; auto: text at a terminal, JSON elsewhere' },
    LOG_TEXT: { meaning: '1 logs spoken texts' },
    LOG_NUMBERS: { meaning: '1 logs whole telephone numbers, instead of their last two digits' },
    CALL_INCOMING_URL: {
      meaning:
        'http(s) address that is asked how each incoming telephone call is answered, before SIP_ROUTES; its requests are signed with CALL_WEBHOOK_SECRET',
      default: 'none',
    },
    CALL_INCOMING_KEY: {
      meaning:
        'name of the API key whose applications decide how each incoming telephone call is answered, in place of CALL_INCOMING_URL: they follow GET /v1/events; any word on a server without keys',
      default: 'none',
    },
    CALL_INCOMING_TIMEOUT: { meaning: 'seconds that such a decision may take' },
    CALL_INCOMING_FALLBACK: {
      meaning:
        'what becomes of a call about which there was no usable decision: SIP_ROUTES decide, or it is refused with 503',
    },
    CALL_WEBHOOK_URL: {
      meaning:
        'http(s) address that receives a record of each telephone call, together with CALL_WEBHOOK_SECRET',
      default: 'none',
    },
    CALL_WEBHOOK_SECRET: {
      meaning: 'key of the signature of these records',
      default: 'none',
      values: '16 characters or more',
    },
    HEP_COLLECTOR: {
      meaning: 'host:port of a HEP collector (Homer) that receives a copy of all SIP',
      default: 'none',
    },
    HEP_ID: { meaning: 'number of this server among the senders to the collector' },
    HEP_KEY: { meaning: 'key that the collector expects', default: 'none', values: '256 characters' },
    PCAP_DIR: {
      meaning: 'folder for capture files of the telephone calls that PCAP_CALLS selects',
      default: 'none',
    },
    PCAP_CALLS: {
      meaning:
        'off, all, marked (calls whose INVITE has X-Parley-Capture: 1), or patterns such as to:100,from:+49*',
      default: 'marked',
    },
    PCAP_RTP: { meaning: '1 captures the audio too, as on the wire' },
    PCAP_BYTES: { meaning: 'bytes of one file; later packets are left out' },
    PCAP_KEEP_DAYS: { meaning: 'days after which a file is removed; 0 keeps files for ever' },
    PCAP_KEEP_BYTES: {
      meaning: 'bytes of all files together, above which the oldest are removed; 0 sets no limit',
    },
    PCAP_KEYS: {
      meaning: '1 keeps keys (SDES) and password proofs in captures, which are blanked otherwise',
    },
  },
} as const satisfies Readonly<Record<string, VariableSection>>;

type Sections = typeof SECTIONS;

/** The name of a variable. */
export type Variable = { [Name in keyof Sections]: keyof Sections[Name] }[keyof Sections];

export const VARIABLES = Object.assign({}, ...Object.values(SECTIONS)) as Readonly<
  Record<Variable, VariableEntry>
>;
