// Parses and writes one Via value: who sent a request, over which transport, and where its response
// goes.
import { type HostPort, hostPort, hostPortText, withoutBrackets } from './uri.js';
import { headerParameters, type Parameters, Scanner } from './scanner.js';

/** Remote address of a received message. */
export interface Source {
  readonly address: string;
  readonly port: number;
}

export class Via {
  readonly version: string;
  /** Upper case: UDP, TCP, TLS, WS, WSS or another name. */
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

  /** The port that the receiver saw (RFC 3581); undefined if it was not filled in. */
  get rport(): number | undefined {
    const port = this.params.get('rport');
    return port === undefined || !/^\d{1,5}$/.test(port) ? undefined : Number(port);
  }

  /**
   * Adds what the receiver saw: `received` if sent-by differs (RFC 3261, section 18.2.1), both parameters if
   * rport is requested (RFC 3581).
   */
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

/** Undefined if the value is malformed. */
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
