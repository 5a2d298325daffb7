import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import { changedSettings } from '../../src/hearing/hearing-settings.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';

test('a change leaves the rest as it is', () => {
  assert.deepEqual(changedSettings(HEARING_SETTINGS, {}), HEARING_SETTINGS);
  const changed = changedSettings(HEARING_SETTINGS, { noInputMs: 5000, sensitivity: 'low' });
  assert.deepEqual(changed, { ...HEARING_SETTINGS, noInputMs: 5000, sensitivity: 'low' });
});

test('bounds that are not stated move with the silence', () => {
  const { minSilenceMs, maxSilenceMs } = changedSettings(HEARING_SETTINGS, { silenceMs: 200 });
  assert.deepEqual([minSilenceMs, maxSilenceMs], [200, 2000]);
  assert.equal(changedSettings(HEARING_SETTINGS, { silenceMs: 3000 }).maxSilenceMs, 3000);
});

for (const [change, message] of [
  [{ silenceMs: 50 }, /^silenceMs must be 100 to 10000 ms, not 50$/],
  [{ silenceMs: NaN }, /^silenceMs must be /],
  [{ maxTurnMs: 3_600_001 }, /^maxTurnMs must be 0 to 3600000 ms, not 3600001$/],
  [{ noInputMs: -1 }, /^noInputMs must be 0 to 600000 ms, not -1$/],
  [{ minSilenceMs: 700 }, /^minSilenceMs must be at most silenceMs \(600\), not 700$/],
  [{ maxSilenceMs: 500 }, /^maxSilenceMs must be at least silenceMs \(600\), not 500$/],
  [{ resumeMs: Infinity }, /^resumeMs must be 100 to 30000 ms, not Infinity$/],
  [{ sensitivity: 'loud' as 'low' }, /^sensitivity must be high, medium or low, not loud$/],
  [{ ignoreDistant: 0 as unknown as boolean }, /^ignoreDistant must be true or false, not 0$/],
  [{ ignoreBackchannel: 1 as unknown as boolean }, /^ignoreBackchannel must be true or false, not 1$/],
  [{ endedByHand: 0 as unknown as boolean }, /^endedByHand must be true or false, not 0$/],
] satisfies readonly (readonly [Partial<HearingSettings>, RegExp])[]) {
  test(`${JSON.stringify(change)} is refused with its field`, () => {
    const [field] = Object.keys(change);
    assert.throws(() => changedSettings(HEARING_SETTINGS, change), { code: 'INVALID_FIELD', field, message });
  });
}
