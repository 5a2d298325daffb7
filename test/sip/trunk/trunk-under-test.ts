// A trunk at one end of a simulated network, and a registrar at the other.
import { LocatedSender } from '../../../sip/client/located-sender.js';
import type { SipRequest } from '../../../sip/message/message.js';
import type { ServerTransaction } from '../../../sip/transaction/server-transaction.js';
import type { TransportName } from '../../../sip/transport/flow.js';
import { readTrunkFile } from '../../../sip/trunk/trunk-settings.js';
import { Trunk } from '../../../sip/trunk/trunk.js';
import { Places } from '../client/places.js';
import { Network } from '../transaction/network.js';
import { Callee, CALLEE, CALLER } from '../transaction/users.js';

type Answering = (transaction: ServerTransaction, request: SipRequest) => void;

export const CONTACT = `sip:4930@${CALLER}`;

export function ok(
  headers: readonly (readonly [string, string])[] = [['Contact', `<${CONTACT}>;expires=600`]],
): Answering {
  return (transaction) => transaction.respond({ status: 200, headers });
}

export function status(code: number, headers: readonly (readonly [string, string])[] = []): Answering {
  return (transaction) => transaction.respond({ status: code, headers });
}

export function openTrunk(fields: object = { register: {} }, transport: TransportName = 'udp') {
  const network = new Network();
  const requests: { readonly atMs: number; readonly request: SipRequest }[] = [];
  const registrar = { answer: ok() };
  const callee = new Callee((transaction) => {
    requests.push({ atMs: network.time.now(), request: transaction.request });
    registrar.answer(transaction, transaction.request);
  });
  network.layer(CALLEE, callee, transport);
  const layer = network.layer(CALLER, new Callee(), transport);
  const places = new Places({ 'carrier.example': [CALLEE], 'edge.example': [CALLEE] });
  const sender = new LocatedSender({ layer, locator: places, time: network.time });
  const changes: unknown[] = [];
  const account = { username: '4930', password: 'secret' };
  const file = { trunks: [{ name: 'carrier', domain: 'carrier.example', ...account, ...fields }] };
  const read = readTrunkFile(JSON.stringify(file), { environment: () => undefined, file: () => undefined });
  const [settings] = read.trunks ?? [];
  if (settings === undefined) throw new Error(read.problems?.join('\n'));
  let tokens = 0;
  const trunk = new Trunk({
    settings,
    sender,
    time: network.time,
    random: () => 0.5,
    token: () => `token${++tokens}`,
    contact: (user, _transport, flow) =>
      `sip:${user}@${CALLER}${flow === undefined || flow.local.port === 5060 ? '' : `:${flow.local.port}`}`,
    randomBytes: (count) => new Uint8Array(count).fill(7),
    changed: (_name, change) => changes.push(change),
  });
  const times = () => requests.map(({ atMs }) => atMs);
  const last = () => requests.at(-1)?.request;
  return { network, trunk, registrar, requests, times, last, changes, places, sender };
}
