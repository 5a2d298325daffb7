import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callRecordBody } from '../../src/observe/webhook.js';
import { callRecordLine, maskedAddress } from '../../src/observe/call-reports.js';
import { callRecord } from './call-records.js';

test('of a number the last two digits are shown, and of a name nothing', () => {
  const masked: Record<string, string> = {
    'sip:+491701234567@trunk.example;user=phone': 'sip:+**********67@trunk.example',
    'tel:+49-30-123456': 'tel:+********56',
    '+491701234567': '+**********67',
    'sips:100@192.0.2.1:5061?Replaces=x': 'sips:**0@192.0.2.1:5061',
    '12': '**',
    '7': '*',
    'sip:anna.schmidt@example.org': 'sip:***@example.org',
    'sip:anna:secret@example.org': 'sip:***@example.org',
    'sip:example.org': 'sip:***',
    'sip:+49170;ext=123456@example.org': 'sip:+***70',
    '': '',
  };
  for (const [address, shown] of Object.entries(masked)) assert.equal(maskedAddress(address), shown, address);
});

test('the line of a call holds figures, and whole numbers only where they are asked for', () => {
  const record = callRecord({ transferredTo: 'sip:200@pbx.example' });
  const line = callRecordLine(record, { numbers: false });
  assert.equal(/4567|3456|200@/.test(JSON.stringify(line)), false);
  assert.deepEqual(JSON.parse(JSON.stringify(line)), {
    call: 'call_1',
    protocol: 'sip',
    direction: 'outbound',
    callId: 'a84b4c76e66710@192.0.2.1',
    from: 'sip:+********56@trunk.example',
    to: 'sip:+**********67@trunk.example',
    trunk: 'main',
    transferredTo: 'sip:**0@pbx.example',
    end: 'peer hung up',
    cause: 16,
    ms: 12_500,
    connectedMs: 10_000,
    codec: 'PCMA',
    srtp: 'none',
    setupMs: 2400,
    firstAudioMs: 35,
    digits: 3,
    packetsSent: 500,
    silencePackets: 200,
    underruns: 0,
    packetsReceived: 490,
    loss: 0.02,
    jitterMs: 1.5,
    mos: 4.2,
    remoteLoss: 0,
    remoteJitterMs: 2,
    remoteMos: 4.38,
  });
  assert.equal(callRecordLine(record, { numbers: true })['to'], record.to);
});

test('header fields of a caller are in the record that an application is sent, and not in the log', () => {
  const record = callRecord({ headers: { 'X-Patient': 'Anna Example' } });
  const line = callRecordLine(record, { numbers: true });
  assert.equal(JSON.stringify(line).includes('Anna'), false);
  assert.deepEqual(callRecordBody(record).call.headers, { 'X-Patient': 'Anna Example' });
});

test('a wall clock that goes back does not change how long a call was', () => {
  const record = callRecord({ endedAt: 1_700_000_012_500 - 7_200_000 });
  const line = callRecordLine(record, { numbers: true });
  assert.deepEqual([line['ms'], line['connectedMs']], [12_500, 10_000]);
  const { call } = callRecordBody(record);
  assert.deepEqual([call.duration_ms, call.connected_ms], [12_500, 10_000]);
});

test('a call that was never answered has a line without what it never had', () => {
  const bare = callRecord({ end: { reason: 'rejected', status: 486, detail: 'busy' } });
  const {
    answeredAt: _at,
    connectedMs: _ms,
    sent: _sent,
    received: _received,
    remote: _remote,
    ...rest
  } = bare;
  const line = JSON.parse(JSON.stringify(callRecordLine(rest, { numbers: false }))) as Record<
    string,
    unknown
  >;
  assert.deepEqual([line['end'], line['status'], line['detail']], ['rejected', 486, 'busy']);
  for (const name of ['connectedMs', 'packetsSent', 'mos', 'rttMs']) assert.equal(name in line, false, name);
});

test('the figures of a line are rounded, and those of the record that an application is sent are not', () => {
  const record = callRecord({
    setupMs: 2400.123_456,
    firstAudioMs: 34.500_01,
    totalMs: 3.5,
    connectedMs: 2.25,
    received: { packets: 490, loss: 1 / 3, jitterMs: 1.234_56, mos: 4.123_456 },
    remote: { loss: 2 / 3, jitterMs: 0.049, rttMs: 17.277_7, mos: 1.2345 },
  });
  const line = callRecordLine(record, { numbers: false });
  const figures = [
    'setupMs',
    'firstAudioMs',
    'ms',
    'connectedMs',
    'loss',
    'jitterMs',
    'mos',
    'remoteLoss',
    'remoteJitterMs',
    'rttMs',
    'remoteMos',
  ];
  assert.deepEqual(
    figures.map((name) => line[name]),
    [2400, 35, 4, 2, 0.3333, 1.2, 4.12, 0.6667, 0, 17.3, 1.23],
  );
  assert.equal(callRecordBody(record).call.setup_ms, 2400.123_456);
});
