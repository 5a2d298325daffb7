import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isValidSctp } from '../../signaling/sctp-packet.js';

/** A packet of these chunks behind a header of twelve bytes. */
function packet(...chunks: string[]): Buffer {
  return Buffer.from(`138813881234567800000000${chunks.join('')}`, 'hex');
}

const DATA = '0003001500000001000100000000003361626364' + '65000000';
const HEARTBEAT = '04000014' + '0001000c0102030405060708' + 'c0000004';

test('what SCTP stacks send is valid', () => {
  for (const chunks of [
    [],
    [DATA],
    [DATA, HEARTBEAT],
    [DATA.slice(0, -6)], // the padding of the last chunk left out
    ['01000020000000010001000000ff00ff00000001' + '80080006c0820000' + 'c0000004'],
    ['03000010000000010010000000000000'],
    ['0300001c000000010010000000020001' + '00020003' + '00050005' + '00000001'],
    ['82000010' + '0010000c0000000100000001'],
    ['0b000004'],
  ]) {
    assert.equal(isValidSctp(packet(...chunks)), true, chunks.join(' '));
  }
});

test('lengths that lead nowhere or out of the packet are refused', () => {
  for (const chunks of [
    ['00030000'], // would be read for ever
    ['00030003'],
    [DATA, '00000000'],
    ['0003002000000001'],
    ['04000008' + '00010000'], // a parameter without length
    ['04000008' + '00010005'],
    ['01000018000000010001000000ff00ff00000001' + '80080000'],
    ['82000008' + '000d0000'],
    ['06000008' + '000c0002'],
    ['0b0000'],
    ['ff'],
  ]) {
    assert.equal(isValidSctp(packet(...chunks)), false, chunks.join(' '));
  }
  assert.equal(isValidSctp(packet().subarray(0, 11)), false);
});

test('acknowledgements of what cannot have been sent are refused', () => {
  const head = '0000000100100000';
  for (const chunks of [
    ['0300000c0000000100100000'], // no counts
    [`03000010${head}00010000`], // one gap block stated, none there
    [`03000010${head}00000001`],
    [`03000014${head}00010000` + '00000001'], // gaps begin at 1
    [`03000014${head}00010000` + '00020001'],
    [`03000014${head}00010000` + '0002ffff'],
    [`03000018${head}00020000` + '00020004' + '00040005'],
  ]) {
    assert.equal(isValidSctp(packet(...chunks)), false, chunks.join(' '));
  }
});

test('DATA without user data is refused, and more chunks than fit a packet of the path', () => {
  const empty = '0003001000000001000100000000' + '0033';
  assert.equal(isValidSctp(packet(empty)), false);
  assert.equal(isValidSctp(packet('00030008' + '00000001')), false);
  const least = '0003001100000001000100000000' + '003361' + '000000';
  assert.equal(isValidSctp(packet(...Array<string>(64).fill(least))), true);
  assert.equal(isValidSctp(packet(...Array<string>(65).fill(least))), false);
});

test('a packet has one acknowledgement', () => {
  const sack = '03000010000000010010000000000000';
  assert.equal(isValidSctp(packet(sack, DATA)), true);
  assert.equal(isValidSctp(packet(sack, sack)), false);
});
