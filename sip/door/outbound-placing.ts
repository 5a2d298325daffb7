// Calls that go out, for applications and for transfers.
import type { PhoneCallRequest, PhoneCallView } from '../../src/call/phone-calls.js';
import { ParleyError } from '../../src/errors.js';
import type { Replaces } from '../headers/replaces.js';
import type { Leg } from './leg.js';
import type { SipNetwork } from './sip-network.js';
import type { TelephoneParts } from './telephone-parts.js';

export interface OutboundPlacingParts extends TelephoneParts {
  readonly network: SipNetwork;
}

export interface DialledTarget {
  readonly uri: string;
  readonly replaces: Replaces | undefined;
  readonly referredBy: string | undefined;
}

export class OutboundPlacing {
  constructor(_parts: OutboundPlacingParts) {}

  open(): void {}

  place(_request: PhoneCallRequest): Promise<PhoneCallView> {
    return Promise.reject(new ParleyError('CAPABILITY_MISSING', 'no calls go out yet'));
  }

  dial(_target: DialledTarget): Leg {
    throw new ParleyError('CAPABILITY_MISSING', 'no calls go out yet');
  }

  uriOf(to: string, _field: string): string {
    return to;
  }

  close(): void {}

  async closed(): Promise<void> {}
}
