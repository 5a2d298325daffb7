// What the server and the browser can do, asked before anybody needs it: the page says what is missing, and
// does not wait until a button is pressed.
import { authorization } from './parley-http.js';
import { INSECURE, REASONS } from './parley-microphone.js';

const AGENTS = 'v1/agents';
const MODELS = 'v1/models';
const HEALTH = 'health';
const RECOGNITION = 'automatic-speech-recognition';

/**
 * Resolves with the agent that answers calls, {id, model, hears}, if there is one, with `recognises`: the server
 * turns speech into text. `voiceCommand` fetches a neural voice, and `earsCommand` a recogniser, if the server has none.
 * `unheardLanguages` have a voice and no recogniser. `weights` are the published ones in use, with their licence
 * and credit. What the server does not tell is undefined.
 */
export async function serverAbilities(key) {
  const [agents, models, health] = await Promise.all([
    listOf(AGENTS, key),
    listOf(MODELS, key),
    answerTo(HEALTH, key),
  ]);
  return {
    agent: agents?.find((one) => one.default),
    recognises: models?.some(({ task }) => task === RECOGNITION),
    voiceCommand: health?.voiceCommand,
    earsCommand: health?.earsCommand,
    unheardLanguages: health?.unheardLanguages ?? [],
    weights: models?.flatMap((model) => model.weights ?? []) ?? [],
  };
}

async function listOf(path, key) {
  return (await answerTo(path, key))?.data;
}

async function answerTo(path, key) {
  try {
    const answer = await fetch(path, { headers: authorization(key) });
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined; // the page has said already that the server does not answer
  }
}

/** The browser gives no page of this address a microphone. */
export function isInsecure() {
  return navigator.mediaDevices === undefined;
}

/**
 * Calls `tell` with the reason for which there is no microphone, or with an empty text, and again when that
 * changes.
 */
export async function watchMicrophone(tell) {
  if (isInsecure()) return tell(INSECURE);
  const { mediaDevices, permissions } = navigator;
  const permission = await permissions?.query({ name: 'microphone' }).catch(() => undefined);
  const look = async () => {
    if (permission?.state === 'denied') return tell(REASONS.NotAllowedError);
    const devices = await mediaDevices.enumerateDevices().catch(() => undefined);
    const hasNone = devices !== undefined && !devices.some(({ kind }) => kind === 'audioinput');
    return tell(hasNone ? REASONS.NotFoundError : '');
  };
  permission?.addEventListener('change', () => void look());
  mediaDevices.addEventListener('devicechange', () => void look());
  return look();
}
