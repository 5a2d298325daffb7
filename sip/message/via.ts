// One Via: who sent a request, over what, and where its response goes.
import { type HostPort, hostPort, hostPortText, withoutBrackets } from './host.js';
import { headerParameters, type Parameters } from './parameters.js';
import { Scanner } from './scanner.js';

/** Where a message came from. */
export interface Source {
  readonly address: string;
  readonly port: number;
}

export class Via {
  readonly version: string;
  /** Upper case: UDP, TCP, TLS, WS, WSS or what else a peer names. */
  readonly transport: string;
  readonly sentBy: HostPort;
  readonly params: Parameters;

  constructor(transport: string, sentBy: HostPort, params: Parameters, version = '2.0') {
    this.version = version;
    this.transport = transport;
    this.sentBy = sentBy;
    this.params = params;
  }

  get branch(): string | undefined {
    return this.params.get('branch');
  }

  get received(): string | undefined {
    const address = this.params.get('received');
    return address === undefined ? undefined : withoutBrackets(address);
  }

  /** The port that the receiver saw (RFC 3581); undefined where it has not filled it in. */
  get rport(): number | undefined {
    const port = this.params.get('rport');
    return port === undefined || !/^\d{1,5}$/.test(port) ? undefined : Number(port);
  }

  /** With what the receiver saw: `received` where sent-by says otherwise (RFC 3261, 18.2.1), both where rport is asked for (RFC 3581). */
  stamped({ address, port }: Source): Via {
    const wantsPort = this.params.has('rport');
    if (!wantsPort && this.sentBy.host === address && !this.params.has('received')) return this;
    const received = this.params.with('received', address);
    const params = wantsPort ? received.with('rport', String(port)) : received;
    return new Via(this.transport, this.sentBy, params, this.version);
  }

  toString(): string {
    return `SIP/${this.version}/${this.transport} ${hostPortText(this.sentBy)}${this.params.toString()}`;
  }
}

/** Undefined where the value is not well-formed. */
export function parseVia(value: string): Via | undefined {
  const scanner = new Scanner(value);
  if (scanner.space().token().toUpperCase() !== 'SIP' || !scanner.space().take('/')) return undefined;
  const version = scanner.space().token();
  if (version === '' || !scanner.space().take('/')) return undefined;
  const transport = scanner.space().token().toUpperCase();
  const beforeSpace = scanner.at;
  if (transport === '' || scanner.space().at === beforeSpace) return undefined;
  const sentBy = hostPort(scanner, true);
  const params = sentBy === undefined ? undefined : headerParameters(scanner);
  if (sentBy === undefined || params === undefined) return undefined;
  return new Via(transport, sentBy, params, version);
}
