import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallAdmission } from '../../src/call/call-admission.js';
import { ManualTime } from '../fakes/manual-time.js';

function admission(maxCpuPercent: number) {
  const time = new ManualTime(1000);
  const machine = { usedMs: 0, encoderLoad: 0, loop: { active: 0, idle: 0 } };
  const gate = new CallAdmission({
    maxCpuPercent,
    cores: 2,
    cpuMicroseconds: () => machine.usedMs * 1000,
    encoderLoad: () => machine.encoderLoad,
    eventLoop: () => ({ ...machine.loop }),
    time,
  });
  /** Seconds in which this process uses that share of both cores. */
  const run = (seconds: number, share: number) => {
    for (let second = 0; second < seconds; second++) {
      machine.usedMs += 2000 * share;
      time.advance(1000);
    }
  };
  return { gate, machine, run, time };
}

test('a busy processor refuses calls once it is busy for longer than a second, and takes them again', () => {
  const { gate, run, time } = admission(90);
  run(1, 1);
  assert.equal(gate.refusal(), undefined);
  run(5, 1);
  assert.equal(gate.refusal(), 'the server uses 98 % of its processor, and MAX_CPU_PERCENT allows 90');
  run(2, 0.2);
  assert.equal(gate.refusal(), undefined);
  gate.close();
  assert.equal(time.waiting, 0);
});

test('without a limit a busy processor refuses nothing', () => {
  const { gate, run } = admission(0);
  run(10, 1);
  assert.equal(gate.refusal(), undefined);
  gate.close();
});

test('encoders without time refuse calls', () => {
  const { gate, machine } = admission(90);
  machine.encoderLoad = 0.96;
  assert.equal(gate.refusal(), 'the encoders have no time for another call');
  machine.encoderLoad = 0.9;
  assert.equal(gate.refusal(), undefined);
  gate.close();
});

test('a stall of the event loop is no load: the sample counts the time that passed', () => {
  const { gate, machine, time } = admission(90);
  machine.usedMs += 2000;
  time.advance(10_000);
  assert.equal(gate.refusal(), undefined);
  gate.close();
});

for (const maxCpuPercent of [90, 0]) {
  const refuses = maxCpuPercent > 0;
  test(`a busy main thread refuses ${refuses ? '' : 'no '}calls with MAX_CPU_PERCENT=${maxCpuPercent}, although other cores are idle`, () => {
    const { gate, machine, time } = admission(maxCpuPercent);
    /** Seconds in which the event loop is busy for that share. */
    const turn = (seconds: number, share: number) => {
      for (let second = 0; second < seconds; second++) {
        machine.loop.active += 1000 * share;
        machine.loop.idle += 1000 * (1 - share);
        time.advance(1000);
      }
    };
    turn(10, 0.94);
    assert.equal(gate.refusal(), undefined);
    turn(5, 1);
    assert.equal(gate.refusal(), undefined);
    turn(20, 1);
    const words = 'the main thread of the server is busy for 100 % of the time, and 95 % is the most';
    assert.equal(gate.refusal(), refuses ? words : undefined);
    turn(1, 0.5);
    assert.equal(gate.refusal(), undefined);
    gate.close();
  });
}

test('after a sample that throws the next ones count, and calls are taken again', () => {
  const { gate, machine, run, time } = admission(90);
  run(6, 1);
  assert.notEqual(gate.refusal(), undefined);
  const { loop } = machine;
  Object.defineProperty(machine, 'loop', {
    configurable: true,
    get: () => {
      throw new Error('a defect');
    },
  });
  assert.throws(() => time.advance(1000), { message: 'a defect' });
  Object.defineProperty(machine, 'loop', { value: loop });
  run(4, 0);
  assert.equal(gate.refusal(), undefined);
  gate.close();
  assert.equal(time.waiting, 0);
});
