// Opens a conversation of ElevenLabs' dialects whose time, speech and client the test controls.
import assert from 'node:assert/strict';
import type { SocketHandler, Handshake } from '../../../src/api/http/socket-dialect.js';
import { elevenLabsDialects } from '../../../src/api/elevenlabs/stream-input.js';
import type { ElevenLabsParts } from '../../../src/api/elevenlabs/elevenlabs-socket.js';
import type { ParleyError } from '../../../src/errors.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { FakePeer } from '../fake-peer.js';
import { ScriptedSpeaker } from '../scripted-speaker.js';

interface ElevenUnderTest {
  readonly peer: FakePeer;
  readonly time: ManualTime;
  readonly speaker: ScriptedSpeaker;
  readonly conversation: SocketHandler;
  /** Errors written to the log. */
  readonly failures: ParleyError[];
  tell(...messages: object[]): void;
}

interface Options {
  readonly voiceId?: string;
  readonly voices?: ElevenLabsParts['voices'];
  readonly query?: string;
  readonly authorize?: (key: string) => boolean;
  readonly maxTextLength?: number;
  readonly prepare?: (speaker: ScriptedSpeaker) => void;
}

function open(path: 'stream-input' | 'multi-stream-input', options: Options): ElevenUnderTest {
  const { query = 'output_format=pcm_8000', authorize = () => true, maxTextLength = 4096, prepare } = options;
  const { voiceId = 'slt', voices = new Map<string, string>() } = options;
  const time = new ManualTime();
  const speaker = new ScriptedSpeaker(time);
  prepare?.(speaker);
  const peer = new FakePeer();
  const failures: ParleyError[] = [];
  const failed = (error: ParleyError) => void failures.push(error);
  const handshake: Handshake = {
    url: new URL(`ws://somewhere/v1/text-to-speech/${voiceId}/${path}?${query}`),
    params: { voice_id: voiceId },
    client: 'tester',
    requestId: 'req-1',
    authorize,
  };
  const dialects = elevenLabsDialects({ speaker, time, voices, maxTextLength, failed });
  const dialect = dialects.find((one) => one.path.endsWith(`/${path}`)) ?? assert.fail();
  const conversation = dialect.open(peer, handshake);
  const tell = (...messages: object[]) => {
    for (const message of messages) conversation.message(JSON.stringify(message));
  };
  return { peer, time, speaker, conversation, failures, tell };
}

export function openStreamInput(options: Options = {}): ElevenUnderTest {
  return open('stream-input', options);
}

export function openMulti(options: Options = {}): ElevenUnderTest {
  return open('multi-stream-input', options);
}

/** Everything that can happen without time passing has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
