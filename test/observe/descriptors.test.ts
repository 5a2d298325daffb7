// The log of a server that has too few file descriptors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptorNotices, DescriptorWatch, OWN_DESCRIPTORS } from '../../src/observe/descriptors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { SILENT_LOG } from '../../src/log.js';

const DEMAND = {
  access: { maxSockets: 256 },
  limits: { maxCalls: 200 },
  sip: { enabled: true },
  recording: undefined,
};

function tableOf(limit?: number, inUse?: number) {
  return { limit: () => limit, inUse: () => inUse, probe: () => undefined };
}

function watched() {
  const time = new ManualTime();
  const lines: string[] = [];
  const state: { code: string | undefined; probes: number } = { code: undefined, probes: 0 };
  const note = (fields: object, message?: string) =>
    void lines.push(`${time.now()} ${message} ${JSON.stringify(fields)}`);
  const probe = () => {
    state.probes++;
    if (state.code !== undefined) throw Object.assign(new Error(state.code), { code: state.code });
  };
  const table = { limit: () => 64, inUse: () => 40, probe };
  const watch = new DescriptorWatch({ time, log: { ...SILENT_LOG, error: note, info: note }, table });
  return { time, lines, state, watch };
}

test('settings that may need more descriptors than the limit are named with the numbers', () => {
  assert.deepEqual(descriptorNotices(DEMAND, tableOf(995, 40)), [
    'the settings may need 996 file descriptors (40 are open, 100 for HTTP, 256 for MAX_SOCKETS, 3 for each of 200 MAX_CALLS), and the limit is 995: raise it (`ulimit -n`, LimitNOFILE of systemd, `ulimits: nofile` of Docker Compose), or lower the settings',
  ]);
  assert.deepEqual(descriptorNotices(DEMAND, tableOf(996, 40)), []);
  const others = { ...DEMAND, sip: { enabled: false }, recording: {} }; // two for each call
  assert.equal(descriptorNotices(others, tableOf(795, 40)).length, 1);
  assert.deepEqual(descriptorNotices(others, tableOf(796, 40)), []);
});

test('without a limit, or where the system tells of none, there is no warning', () => {
  assert.deepEqual(descriptorNotices(DEMAND, tableOf(Infinity, 40)), []);
  assert.deepEqual(descriptorNotices(DEMAND, tableOf(undefined, undefined)), []);
});

test('the descriptors of this process are counted', () => {
  const [limit = 0, inUse = 0] = [OWN_DESCRIPTORS.limit(), OWN_DESCRIPTORS.inUse()];
  assert.ok(inUse > 3 && inUse < limit, `${inUse} of ${limit}`);
  OWN_DESCRIPTORS.probe();
  assert.equal(OWN_DESCRIPTORS.inUse(), inUse);
});

test('a shortage is one line at once, and one when there has been none for ten seconds', () => {
  const { time, lines, state, watch } = watched();
  time.advance(60_000);
  assert.deepEqual(lines, []);
  state.code = 'EMFILE';
  time.advance(5000);
  state.code = undefined;
  time.advance(9000);
  state.code = 'EMFILE'; // the same shortage
  time.advance(500);
  state.code = undefined;
  assert.equal(lines.length, 1);
  assert.match(
    lines[0] ?? '',
    /^60500 file descriptors have run out .*"EMFILE".*closed unanswered.*`ulimit -n`/,
  );
  time.advance(9500);
  assert.equal(lines.length, 1);
  time.advance(500);
  assert.deepEqual(lines.slice(1), ['84500 file descriptors are free again {"ms":14000,"limit":64}']);
  state.code = 'ENFILE';
  time.advance(1000);
  assert.match(lines[2] ?? '', /^85000 file descriptors have run out .*"ENFILE".*fs\.file-max/);
  watch.close();
});

test('another error of the probe is no shortage, and a closed watch probes no more', () => {
  const { time, lines, state, watch } = watched();
  state.code = 'ENOENT';
  time.advance(1000);
  assert.deepEqual([lines, state.probes], [[], 2]);
  watch.close();
  watch.close();
  time.advance(60_000);
  assert.equal(state.probes, 2);
});
