import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../errors.ts';
import { parseNetworkIdAnnotation, parseNodeIdAnnotation } from './ids.ts';
import { parseL3GatewayConfig } from './l3-gateway-config.ts';
import { parseDefaultNetworkSelection, parseNetworkSelections } from './network-selection.ts';
import { parseTransitAddresses } from './node-addresses.ts';
import { parseEncapIps, parseHostCidrs } from './node-lists.ts';
import { parseNodeSubnets } from './node-subnets.ts';
import { parseOpenDefaultPorts } from './open-default-ports.ts';
import { parsePodNetworks } from './pod-networks.ts';
import { parseTunnelKeys } from './tunnel-keys.ts';

describe('garbage', () => {
  const readers: readonly ((text: string) => unknown)[] = [
    (text) => parseNodeSubnets(text, 'n'),
    (text) => parseNodeIdAnnotation(text, 'n'),
    (text) => parseNetworkIdAnnotation(text, 'n'),
    (text) => parseTunnelKeys(text, 'n'),
    (text) => parseTransitAddresses(text, 'n'),
    (text) => parseHostCidrs(text, 'n'),
    (text) => parseEncapIps(text, 'n'),
    (text) => parseL3GatewayConfig(text, 'n'),
    (text) => parsePodNetworks(text, 'ns/p'),
    (text) => parseNetworkSelections(text, 'ns/p'),
    (text) => parseDefaultNetworkSelection(text, 'ns/p'),
    (text) => parseOpenDefaultPorts(text, 'ns/p'),
  ];

  it('throws nothing but ApiError', () => {
    const shape = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom('', ' ', 'null', '{"default":null}', '{"__proto__":{}}', '[null]', '{"default":{"mode":null}}'),
      fc.json().map((json) => `{"default":${json}}`),
      fc.json().map((json) => `[${json}]`),
    );
    fc.assert(
      fc.property(shape, fc.constantFrom(...readers), (text, read) => {
        try {
          read(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
      { numRuns: 1500 },
    );
  });
});
