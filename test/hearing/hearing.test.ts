import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TurnModelFile } from '../../src/config/hearing-config.js';
import { Hearing } from '../../src/hearing/hearing.js';
import type { HearingEvent } from '../../src/hearing/hearing-messages.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { createLog } from '../../src/observe/log.js';
import { ManualTime } from '../fakes/manual-time.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { until } from '../fakes/until.js';
import { toy } from '../onnx/toys.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-hearing-'));
after(() => rmSync(folder, { recursive: true }));

const media = (socket: number) => ({ socket: { handle: socket }, playout: { handle: 10 + socket } });

interface Opening {
  readonly vadModel?: string;
  readonly endOfTurnModule?: string;
  readonly turnModels?: readonly TurnModelFile[];
  readonly script?: URL;
}

async function opened(options: Opening = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    level: 'info',
    logText: false,
    destination: { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const time = new ManualTime(1000);
  const hearing = await Hearing.open({
    plane: { handle: 1 },
    openEars: () => ({ handle: 1, close: () => undefined }),
    log,
    time,
    script: new URL('./scripted-worker.js', import.meta.url),
    ...options,
  });
  return { hearing, lines, time };
}

/** Listens, and collects the events. */
function listened(hearing: Hearing, socket: number, settings = HEARING_SETTINGS) {
  const events: HearingEvent[] = [];
  const stream = hearing.listen(`call-${socket}`, media(socket), settings, (event) => events.push(event));
  const types = () => events.map(({ type }) => type);
  return { stream, events, types };
}

test('Silero itself hears the speech of one call, and neither the silence nor the noise of others', async () => {
  const { hearing, lines, time } = await opened();
  assert.equal(hearing.detector, 'silero');
  assert.equal(hearing.problem, undefined);
  assert.equal(lines[0]?.['msg'], 'voice activity model loaded');
  const speaker = listened(hearing, 1);
  const quiet = listened(hearing, 2);
  const noisy = listened(hearing, 3);
  speaker.stream.interruptible([{ track: 4, by: 'speech' }]);
  await until(() => speaker.types().includes('turn.ended'));
  assert.deepEqual(
    [...new Set(speaker.types())],
    ['speech.started', 'bargein.paused', 'bargein.confirmed', 'speech.stopped', 'turn.ended'],
  );
  assert.deepEqual([quiet.events, noisy.events], [[], []]);
  const figures = hearing.figures();
  assert.equal(figures.calls, 3);
  assert.ok(figures.runs > 0, 'the model ran');
  assert.ok(figures.gated > figures.windows / 3, 'silent streams are kept from the model');
  time.advance(1000);
  assert.ok(hearing.figures().load > 0);
  await hearing.close();
  assert.equal(time.waiting, 0);
});

test('an order ends the turn of a call, and of one whose caller says nothing', async () => {
  const { hearing } = await opened();
  const speaker = listened(hearing, 1, { ...HEARING_SETTINGS, endedByHand: true });
  const quiet = listened(hearing, 2);
  await until(() => speaker.types().includes('speech.stopped'));
  speaker.stream.endTurn();
  quiet.stream.endTurn();
  const ended = ({ events }: ReturnType<typeof listened>) =>
    events
      .filter((event) => event.type === 'turn.ended')
      .map(({ speechMs, reason }) => [speechMs > 0, reason]);
  await until(() => ended(speaker).length > 0 && ended(quiet).length > 0);
  assert.deepEqual([ended(speaker), ended(quiet)], [[[true, 'client']], [[false, 'client']]]);
  await hearing.close();
});

test('an order to end a turn survives the worker that was to obey it', async () => {
  const { hearing, lines } = await opened();
  const { stream, events } = listened(hearing, 2);
  listened(hearing, 666).stream.close(); // the worker dies of its first message
  stream.endTurn();
  await until(() => lines.some(({ msg }) => msg === 'hearing worker replaced'));
  const ends = () => events.filter(({ type }) => type === 'turn.ended').length;
  await until(() => ends() > 0);
  stream.endTurn();
  await until(() => ends() > 1);
  assert.equal(ends(), 2);
  await hearing.close();
});

test('without a usable model file the energy detector hears, and says why', async () => {
  const broken = join(folder, 'broken.onnx');
  writeFileSync(broken, 'no model');
  for (const [vadModel, problem] of [
    [join(folder, 'absent.onnx'), /absent\.onnx cannot be read: ENOENT/],
    [broken, /broken\.onnx is no ONNX model: /],
  ] as const) {
    const { hearing, lines } = await opened({ vadModel });
    assert.equal(hearing.detector, 'energy');
    assert.match(hearing.problem ?? '', problem);
    assert.equal(lines[0]?.['msg'], 'voice activity model missing');
    const { types } = listened(hearing, 1);
    await until(() => types().includes('turn.ended'));
    await hearing.close();
  }
});

test('an end-of-turn module moves the end of a turn', async () => {
  const endOfTurnModule = join(folder, 'never.mjs');
  writeFileSync(
    endOfTurnModule,
    'export default { seconds: 1, ask: (sound) => (sound.length === 16000 ? 0 : 1) }',
  );
  const { hearing } = await opened({ endOfTurnModule });
  assert.equal(hearing.problem, undefined);
  assert.deepEqual(hearing.health.turnModels, ['END_OF_TURN_MODULE']);
  const { events } = listened(hearing, 1);
  await until(() => events.some(({ type }) => type === 'turn.ended'));
  const at = (type: HearingEvent['type']) => events.findLast((event) => event.type === type)?.atMs ?? NaN;
  const silenceMs = at('turn.ended') - at('speech.stopped');
  const { maxSilenceMs } = HEARING_SETTINGS;
  assert.ok(silenceMs >= maxSilenceMs && silenceMs < maxSilenceMs + 64, `${silenceMs} ms`);
  await hearing.close();
});

test('models of turns that cannot be opened are named, and the others are used without a problem', async () => {
  const file = toy('turn-1-mini/turn-1-mini.step.onnx');
  const languages = undefined;
  const { hearing: sound, lines: log } = await opened({ turnModels: [{ file, languages }] });
  assert.equal(sound.problem, undefined);
  const health = { detector: 'silero', turnModels: ['turn-1-mini'], problem: undefined };
  assert.deepEqual(sound.health, health);
  assert.deepEqual(log[0]?.['turnModels'], ['turn-1-mini']);
  await sound.close();
  const other = toy('moonshine-a/encoder.onnx');
  const { hearing, lines } = await opened({ turnModels: [{ file: other, languages }] });
  assert.equal(
    hearing.problem,
    `TURN_MODEL: ${other} is neither turn-1-mini nor Smart Turn v3: its inputs are features`,
  );
  const refused = lines.find(({ msg }) => msg === 'end-of-turn model not used');
  assert.equal(refused?.['problem'], hearing.problem);
  assert.equal(hearing.health.turnModels, undefined);
  const { types } = listened(hearing, 1);
  await until(() => types().includes('turn.ended'));
  await hearing.close();
});

test('without a usable end-of-turn module the silence decides, and the server says why', async () => {
  const { hearing, lines } = await opened({ endOfTurnModule: join(folder, 'absent.mjs') });
  assert.equal(hearing.detector, 'silero');
  assert.match(
    hearing.problem ?? '',
    /^END_OF_TURN_MODULE .*absent\.mjs cannot be loaded: Cannot find module/,
  );
  const refused = lines.find(({ msg }) => msg === 'end-of-turn model not used');
  assert.equal(refused?.['problem'], hearing.problem);
  const { types } = listened(hearing, 1);
  await until(() => types().includes('turn.ended'));
  await hearing.close();
});

test('a worker that dies is replaced, named in the log, and listens to the same calls', async () => {
  const { hearing, lines } = await opened();
  const { stream, types } = listened(hearing, 1);
  stream.interruptible([{ track: 4, by: 'any' }]);
  await until(() => types().includes('speech.started'));
  listened(hearing, 666).stream.close(); // the worker dies of its first message
  await until(() => lines.some(({ msg }) => msg === 'hearing worker replaced'));
  const replaced = lines.find(({ msg }) => msg === 'hearing worker replaced');
  assert.equal(replaced?.['detail'], 'the fatal socket came');
  await until(() => types().filter((type) => type === 'speech.started').length >= 2);
  await until(() => types().includes('turn.ended'));
  const count = (type: HearingEvent['type']) => types().filter((one) => one === type).length;
  assert.equal(count('speech.started'), count('speech.stopped'), 'nothing stays open');
  assert.equal(count('bargein.paused'), count('bargein.confirmed') + count('bargein.false'));
  await hearing.close();
});

test('a worker that cannot start is named after three tries', async () => {
  const script = new URL('data:text/javascript,throw new Error("no start")');
  await assert.rejects(opened({ script }), {
    code: 'HEARING_FAILED',
    message: 'no hearing worker can be started: no start',
  });
});

test('a call that moves is heard on its new socket; a closed stream tells nothing more', async () => {
  const { hearing } = await opened();
  const { stream, types } = listened(hearing, 2);
  stream.follow(media(1));
  await until(() => types().includes('speech.started'));
  stream.close();
  stream.close();
  const told = types().length;
  const other = listened(hearing, 1);
  await until(() => other.types().includes('turn.ended'));
  assert.equal(types().length, told);
  assert.equal(hearing.figures().calls, 1);
  await hearing.close();
});

test('settings are checked where they are given, and closing twice is one close', async () => {
  const { hearing } = await opened();
  assert.throws(() => listened(hearing, 1, { ...HEARING_SETTINGS, silenceMs: 5 }), { field: 'silenceMs' });
  const { stream } = listened(hearing, 2);
  assert.throws(() => stream.change({ noInputMs: -5 }), { code: 'INVALID_FIELD', field: 'noInputMs' });
  const closing = hearing.close();
  assert.equal(hearing.close(), closing);
  await closing;
  assert.throws(() => listened(hearing, 1), { code: 'WRONG_STATE' });
});

test('a defect in the work of one call ends its hearing in the worker, and no other', async () => {
  const { hearing, lines } = await opened();
  const speaker = listened(hearing, 1);
  listened(hearing, 667); // the work of this socket fails
  await until(() => speaker.types().includes('turn.ended'));
  const told = lines.filter(({ level }) => level === 'error' || level === 50);
  assert.deepEqual(
    told.map(({ msg, call, detail }) => [msg, call, detail]),
    [['call is heard no more', 'call-667', 'the odd socket came']],
  );
  assert.equal(hearing.figures().calls, 1);
  await hearing.close();
});

test('a call whose listener throws is heard no more, and the others are', async () => {
  const { hearing } = await opened();
  const rejections = await rejectionsOf(async () => {
    hearing.listen('odd', media(1), HEARING_SETTINGS, () => {
      throw new Error('defect');
    });
    await until(() => hearing.figures().calls === 0);
  });
  assert.deepEqual(rejections.map(String), ['Defect: hearing: defect']);
  const speaker = listened(hearing, 1);
  await until(() => speaker.types().includes('speech.started'));
  await hearing.close();
});
