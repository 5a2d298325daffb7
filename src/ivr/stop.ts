// Stops what the verb start has begun. One that does not run is a warning.
import type { Outcome, Scene } from './scene.js';
import type { Stop } from './verbs.js';

export function stop({ forks }: Stop, scene: Pick<Scene, 'forks' | 'warn'>): Outcome {
  for (const { kind, name } of forks) {
    if (scene.forks.stop(kind, name)) continue;
    const named = name === undefined ? '' : ` of the name ${JSON.stringify(name.slice(0, 100))}`;
    scene.warn({ message: `there is no ${kind}${named} to stop` });
  }
  return 'next';
}
