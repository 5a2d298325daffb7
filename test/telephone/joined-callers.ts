// Callers over SIP and RTP on loopback, the persons who are called for them, and requests about their calls.
import type { TestContext } from 'node:test';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { RtpPeer } from '../interop/telephone/rtp-peer.js';
import type { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { description, type Law, mediaPortIn } from './heard-calls.js';
import { callFrom, okTo, type RawCall, UdpCaller } from './raw-caller.js';

export interface Caller {
  readonly signalling: UdpCaller;
  readonly rtp: RtpPeer;
  readonly dialog: RawCall;
  /** Id of the call at the server. */
  readonly id: string;
  readonly stream: ReturnType<RtpPeer['stream']>;
  readonly law: Law;
}

export async function callTo(
  server: TelephoneServer,
  t: TestContext,
  { law = 'mu', to = 'wait' }: { readonly law?: Law | undefined; readonly to?: string } = {},
): Promise<Caller> {
  const signalling = await kept(t, UdpCaller.open(server.address));
  const rtp = await kept(t, RtpPeer.open());
  const known = new Set(server.telephone.list().map(({ id }) => id));
  const dialog = await callFrom(signalling, {
    uri: `sip:${to}@127.0.0.1`,
    body: description(rtp.port, law),
  });
  const stream = rtp.stream({ host: '127.0.0.1', port: mediaPortIn(dialog.answer) }, { law });
  const isNew = ({ id, state }: { id: string; state: string }) => state === 'connected' && !known.has(id);
  await until(() => server.telephone.list().some(isNew));
  const { id = '' } = server.telephone.list().find(isNew) ?? {};
  await until(() => rtp.heard.length > 0);
  return { signalling, rtp, dialog, id, stream, law };
}

/** A person who is called: a telephone at an address of its own. */
export class Desk {
  readonly uri: string;
  readonly rtp: RtpPeer;
  readonly law = 'mu';
  readonly #signalling: UdpCaller;

  private constructor(signalling: UdpCaller, rtp: RtpPeer) {
    this.#signalling = signalling;
    this.rtp = rtp;
    this.uri = `sip:desk@127.0.0.1:${signalling.local.port}`;
  }

  /** `rtp`: its media; absent: its own. */
  static async open(server: TelephoneServer, t: TestContext, rtp?: RtpPeer): Promise<Desk> {
    const signalling = await kept(t, UdpCaller.open(server.address));
    return new Desk(signalling, rtp ?? (await kept(t, RtpPeer.open())));
  }

  /** The first request of this method, once it has come. */
  async asked(method: string): Promise<string> {
    let found: string | undefined;
    await until(() => {
      found = this.#signalling.heard.find((message) => message.startsWith(`${method} `));
      return found !== undefined;
    });
    return found ?? '';
  }

  /** Returns the INVITE. */
  async rings(): Promise<string> {
    return this.asked('INVITE');
  }

  /** Answers the call, and returns a way to speak in it. */
  async picksUp(): Promise<ReturnType<RtpPeer['stream']>> {
    const invite = await this.rings();
    const body = description(this.rtp.port, 'mu');
    const own = [`Contact: <${this.uri}>`, 'Content-Type: application/sdp', `Content-Length: ${body.length}`];
    const answer = [...own, '', body].join('\r\n');
    this.#signalling.send(okTo(invite, 200, 'desk').replace(/Content-Length: 0\r\n\r\n$/, answer));
    await this.asked('ACK');
    await until(() => this.rtp.heard.length > 0);
    // A far end sends under the numbers of our offer (RFC 3264, section 5.1).
    const eventType = Number(/a=rtpmap:(\d+) telephone-event\/8000/.exec(invite)?.[1]);
    return this.rtp.stream({ host: '127.0.0.1', port: mediaPortIn(invite) }, { law: 'mu', eventType });
  }

  /** Answers a request: refuses an INVITE, or accepts a BYE. */
  async answers(method: string, status: number): Promise<void> {
    this.#signalling.send(okTo(await this.asked(method), status, 'desk'));
  }
}

/** A request to `/v1`. */
export async function ask(server: TelephoneServer, method: string, path: string, body?: object) {
  const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const answer = await fetch(`${server.server.url}/v1${path}`, {
    method,
    ...(body === undefined ? {} : json),
  });
  const text = await answer.text();
  return { status: answer.status, json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}
