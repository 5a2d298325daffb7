// Tests which calls are captured, which of their messages, and how their media is captured.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { blankedSecrets, CallTaps } from '../../../sip/capture/call-taps.js';
import { CallCaptures, wantedCalls, type WantsCall } from '../../../sip/capture/call-captures.js';
import type { CapturedMedia, MediaCopy } from '../../../sip/capture/taps.js';
import type { Flow } from '../../../sip/transport/flow.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { readPcap } from './capture-readers.js';

const UNIX_MS = 1_700_000_000_000;
const MEDIA_MS = 5000; // media plane's clock at that moment
const FLOW: Flow = {
  transport: 'udp',
  reliable: false,
  closed: false,
  local: { address: '192.0.2.1', port: 5060 },
  remote: { address: '198.51.100.7', port: 5070 },
  send: () => true,
  onClose: () => () => undefined,
  close: () => undefined,
  received: 0,
  abandon: () => undefined,
};
const OUR_RTP = { address: '192.0.2.1', port: 16_384 };
const THEIR_RTP = { address: '198.51.100.7', port: 4000 };

function sip(startLine: string, { callId = 'call', from = '+4930', headers = '', body = '' } = {}): Buffer {
  const head = `${startLine}\r\nVia: SIP/2.0/UDP 198.51.100.7;branch=z9hG4bK1\r\nMax-Forwards: 70\r\nFrom: <sip:${from}@h>;tag=1\r\nTo: <sip:b@h>`;
  const end = `Call-ID: ${callId}\r\nCSeq: 1 ${startLine.split(' ', 1)[0] ?? ''}\r\nContact: <sip:a@h>\r\n${headers}Content-Length: ${body.length}\r\n\r\n`;
  return Buffer.from(`${head}\r\n${end}${body}`);
}

const INVITE = sip('INVITE sip:100@h SIP/2.0');

/** Media whose copies the test makes. */
class ScriptedMedia implements CapturedMedia {
  onClosing: (() => void) | undefined;
  quality: undefined;
  on = false;
  waiting: MediaCopy[] = [];
  missed = 0;

  tap(on: boolean): void {
    this.on = on;
  }

  takeCopies() {
    return { copies: this.waiting.splice(0), missed: this.missed };
  }

  packet(text: string, atMs: number, sent = true): void {
    const [from, to] = sent ? [OUR_RTP, THEIR_RTP] : [THEIR_RTP, OUR_RTP];
    this.waiting.push({ from, to, atMs, packet: Buffer.from(text) });
  }
}

async function openTaps(
  t: TestContext,
  more: { rtp?: boolean; keys?: boolean; wants?: WantsCall; openFiles?: number } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'parley-taps-'));
  t.after(() => rm(folder, { recursive: true }));
  const { rtp = true, keys = false, wants, openFiles = 10 } = more;
  const time = new ManualTime();
  const files = new CallCaptures({
    folder,
    time,
    unixMs: () => UNIX_MS + time.now(),
    mediaMs: () => MEDIA_MS + time.now(),
    limits: { openFiles },
    ...(wants === undefined ? {} : { wants }),
  });
  const taps = new CallTaps({ files, collector: undefined, rtp, keys });
  t.after(() => taps.close());
  const packets = async () => {
    await taps.close();
    const [file, ...others] = await readdir(folder);
    assert.deepEqual(others, []);
    return readPcap(await readFile(join(folder, file ?? 'none'))).map((packet) => ({
      ...packet,
      atMs: packet.atUs / 1000 - UNIX_MS,
    }));
  };
  return { taps, files, time, packets };
}

test('media stands in the file where it was in time, between the messages of its call', async (t) => {
  const { taps, time, packets } = await openTaps(t);
  const media = new ScriptedMedia();
  taps.carries('call', media);
  assert.equal(media.on, false, 'nothing of a call is copied before it is captured');
  taps.message('in', INVITE, FLOW);
  assert.equal(media.on, true);
  time.advance(100);
  media.packet('a', MEDIA_MS + 20, false);
  media.packet('b', MEDIA_MS + 40);
  taps.message('in', sip('INFO sip:100@h SIP/2.0'), FLOW);
  media.packet('c', MEDIA_MS + 120);
  time.advance(150);
  assert.equal(media.waiting.length, 0, 'nothing waits for longer than a quarter of a second');
  media.packet('d', MEDIA_MS + 260, false);
  media.onClosing?.();
  assert.equal(media.on, false);
  media.packet('late', MEDIA_MS + 270);
  taps.message('in', sip('BYE sip:100@h SIP/2.0'), FLOW);
  const seen = (await packets()).map(({ atMs, source, target, payload }) => [
    atMs,
    source,
    target,
    payload.toString('latin1', 0, 6),
  ]);
  assert.deepEqual(seen, [
    [0, '198.51.100.7 5070', '192.0.2.1 5060', 'INVITE'],
    [20, '198.51.100.7 4000', '192.0.2.1 16384', 'a'],
    [40, '192.0.2.1 16384', '198.51.100.7 4000', 'b'],
    [100, '198.51.100.7 5070', '192.0.2.1 5060', 'INFO s'],
    [120, '192.0.2.1 16384', '198.51.100.7 4000', 'c'],
    [260, '198.51.100.7 4000', '192.0.2.1 16384', 'd'],
    [250, '198.51.100.7 5070', '192.0.2.1 5060', 'BYE si'],
  ]);
  assert.equal(time.waiting, 0);
});

test('media of another call, and of the same media under another Call-ID, goes its own way', async (t) => {
  const { taps, files } = await openTaps(t);
  const [media, other] = [new ScriptedMedia(), new ScriptedMedia()];
  taps.carries('first-try', media);
  taps.carries('other', other);
  taps.message('out', sip('INVITE sip:100@h SIP/2.0', { callId: 'first-try' }), FLOW);
  assert.deepEqual([media.on, other.on], [true, false]);
  taps.carries('second-try', media);
  assert.equal(media.on, false);
  taps.message('out', sip('INVITE sip:100@h SIP/2.0', { callId: 'second-try' }), FLOW);
  assert.equal(media.on, true);
  media.missed = 7;
  media.onClosing?.();
  assert.equal(files.counts.dropped, 7, 'what was not copied in time is counted');
});

test('without PCAP_RTP, and for calls that get no file, no media is copied', async (t) => {
  const quiet = await openTaps(t, { rtp: false });
  const full = await openTaps(t, { openFiles: 0 });
  for (const { taps } of [quiet, full]) {
    const media = new ScriptedMedia();
    taps.carries('call', media);
    taps.message('in', INVITE, FLOW);
    assert.equal(media.on, false);
  }
});

test('calls are wanted by pattern, or by a mark that only some may set', () => {
  const wanted = (
    calls: Parameters<typeof wantedCalls>[0],
    invite: Buffer,
    direction: 'in' | 'out' = 'in',
    trusted = true,
  ) => wantedCalls(calls, (address) => trusted && address === '198.51.100.7')(direction, invite, FLOW);
  const marked = sip('INVITE sip:200@h SIP/2.0', { headers: 'x-parley-capture : 1\r\n' });
  const inBody = sip('INVITE sip:200@h SIP/2.0', { body: 'a\r\nX-Parley-Capture: 1\r\n' });
  const to = [{ field: 'to', pattern: '1?0' }] as const;
  assert.deepEqual(
    [wanted('all', INVITE), wanted('off', marked), wanted('marked', INVITE)],
    [true, false, false],
  );
  assert.deepEqual([wanted('marked', marked), wanted('marked', inBody)], [true, false]);
  assert.deepEqual(
    [wanted('marked', marked, 'in', false), wanted('marked', marked, 'out', false)],
    [false, true],
  );
  assert.deepEqual(
    [wanted(to, INVITE), wanted(to, sip('INVITE sip:200@h SIP/2.0')), wanted(to, marked)],
    [true, false, true],
  );
  assert.deepEqual(
    [
      wanted([{ field: 'from', pattern: '+49*' }], INVITE),
      wanted([{ field: 'from', pattern: '+44*' }], INVITE),
    ],
    [true, false],
  );
  assert.equal(wanted(to, Buffer.from('INVITE nonsense')), false);
});

test('keys and proofs of passwords are blanked, lengths and everything else stay', () => {
  const body =
    'v=0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0|2^20|1:4;inline:bW9yZQ== FEC_ORDER=FEC_SRTP\r\nk=clear:word\r\n';
  const headers =
    'Authorization: Digest username="u", response="0123abcd", nonce="response=n", uri="sip:h"\r\n' +
    'PROXY-AUTHORIZATION: Digest username="u",\r\n response = "ffff",qop=auth\r\n' +
    'Authorization: Basic dTpw\r\nSubject: response="kept"\r\n';
  const message = sip('INVITE sip:h SIP/2.0', { headers, body });
  const blanked = blankedSecrets(message).toString();
  assert.equal(blanked.length, message.length);
  const shown = message
    .toString()
    .replace('c2VjcmV0', '********')
    .replace('bW9yZQ==', '********')
    .replace('clear:word', '**********')
    .replace('0123abcd', '********')
    .replace('ffff', '****')
    .replace('dTpw', '****');
  assert.equal(blanked, shown);
  assert.equal(blankedSecrets(INVITE), INVITE, 'not even copied where there is nothing');
});

test('secrets are blanked before anything is written, unless they are wished', async (t) => {
  const message = sip('INVITE sip:h SIP/2.0', {
    body: 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0\r\n',
  });
  for (const keys of [false, true]) {
    const { taps, packets } = await openTaps(t, { keys });
    taps.message('in', message, FLOW);
    const [packet] = await packets();
    assert.equal(packet?.payload.includes('c2VjcmV0'), keys);
    assert.equal(packet?.payload.length, message.length);
  }
});
