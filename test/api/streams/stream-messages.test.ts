import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBotMessage, streamErrorOf, StreamWriter } from '../../../src/api/streams/stream-messages.js';
import { ParleyError } from '../../../src/errors.js';

const SID = 'MZ0123';

function read(message: unknown) {
  return readBotMessage(typeof message === 'string' ? message : JSON.stringify(message), SID);
}

test('the messages of a bot are read, with fields of other dialects beside them', () => {
  const payload = Buffer.from([0xff, 0x00, 0x80, 0xf0]).toString('base64');
  assert.deepEqual(read({ event: 'media', streamSid: SID, media: { payload, track: 'outbound' } }), {
    event: 'media',
    samples: Int16Array.of(0, -32_124, 32_124, 120),
  });
  assert.deepEqual(read({ event: 'mark', streamSid: SID, sequenceNumber: '4', mark: { name: 'a "b"' } }), {
    event: 'mark',
    name: 'a "b"',
  });
  assert.deepEqual(read({ event: 'clear', streamSid: SID }), { event: 'clear' });
  const empty = read({ event: 'media', streamSid: SID, media: { payload: '' } });
  assert.deepEqual(empty, { event: 'media', samples: new Int16Array(0) });
});

for (const [what, message, problem] of [
  ['no JSON', '{"event":', /must be JSON/],
  ['a list', [], /JSON object/],
  ['no event', { streamSid: SID }, /"event" must be one of media, mark, clear/],
  ['an unknown event', { event: 'stop', streamSid: SID }, /"event" must be one of/],
  ['no stream', { event: 'clear' }, /"streamSid" must be that of the "start"/],
  ['another stream', { event: 'clear', streamSid: 'MZ9' }, /"streamSid" must be that of the "start"/],
  ['media without a body', { event: 'media', streamSid: SID }, /"media" must be an object/],
  ['media without a payload', { event: 'media', streamSid: SID, media: {} }, /"payload" must be a string/],
  ['a payload of numbers', { event: 'media', streamSid: SID, media: { payload: [1] } }, /"payload"/],
  ['no base64', { event: 'media', streamSid: SID, media: { payload: '%%%%' } }, /must be base64/],
  ['a mark without a name', { event: 'mark', streamSid: SID, mark: {} }, /"name" must be a string/],
  ['a long mark', { event: 'mark', streamSid: SID, mark: { name: 'x'.repeat(501) } }, /at most 500/],
] as const) {
  test(`a message with ${what} is refused by name, as Twilio's 31951`, () => {
    assert.throws(
      () => read(message),
      (error) => {
        assert.ok(error instanceof ParleyError);
        assert.match(error.message, problem);
        return streamErrorOf(error, false) === '31951';
      },
    );
  });
}

test('a binary message is refused as 31950, and sound beyond the buffer as 31931', () => {
  assert.throws(() => readBotMessage(Uint8Array.of(1), SID), { code: 'MALFORMED' });
  assert.equal(streamErrorOf(new ParleyError('MALFORMED', ''), true), '31950');
  assert.equal(streamErrorOf(new ParleyError('QUEUE_FULL', ''), false), '31931');
  assert.equal(streamErrorOf(new ParleyError('QUEUE_FULL', '', { field: 'mark' }), false), 'QUEUE_FULL');
  assert.equal(streamErrorOf(new ParleyError('CALL_STATE', ''), false), 'CALL_STATE');
});

test('messages to the bot have the fields of Twilio, and sequence numbers that are strings', () => {
  const writer = new StreamWriter({ accountSid: 'AC1', callSid: 'call_1', streamSid: SID });
  const written = [
    writer.connected(),
    writer.start(['inbound'], { tenant: 'acme' }),
    writer.media('inbound', 1, 20, '//8='),
    writer.dtmf('#'),
    writer.mark('a "b"'),
    writer.stop(),
  ].map((message) => JSON.parse(message) as unknown);
  assert.deepEqual(written, [
    { event: 'connected', protocol: 'Call', version: '1.0.0' },
    {
      event: 'start',
      sequenceNumber: '1',
      streamSid: SID,
      start: {
        streamSid: SID,
        accountSid: 'AC1',
        callSid: 'call_1',
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: { tenant: 'acme' },
      },
    },
    {
      event: 'media',
      sequenceNumber: '2',
      streamSid: SID,
      media: { track: 'inbound', chunk: '1', timestamp: '20', payload: '//8=' },
    },
    { event: 'dtmf', sequenceNumber: '3', streamSid: SID, dtmf: { track: 'inbound_track', digit: '#' } },
    { event: 'mark', sequenceNumber: '4', streamSid: SID, mark: { name: 'a "b"' } },
    { event: 'stop', sequenceNumber: '5', streamSid: SID, stop: { accountSid: 'AC1', callSid: 'call_1' } },
  ]);
});
