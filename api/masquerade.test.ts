import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseNetworkId } from '../net/ids.ts';
import { MASQUERADE_OFFSETS, masqueradeAddresses, parseClusterConfig } from './cluster-config.ts';
import { networkMasqueradeAddresses } from './masquerade.ts';

const addresses = (masqueradeSubnets: string, id: number) => {
  const config = parseClusterConfig({ masqueradeSubnets });
  return {
    gateway: networkMasqueradeAddresses(config, parseNetworkId(id), 'gateway'),
    management: networkMasqueradeAddresses(config, parseNetworkId(id), 'management'),
  };
};

describe('the masquerade addresses of a network', () => {
  it.each([
    ['169.254.0.0/17', 1, '169.254.0.11', '169.254.0.12'],
    ['169.254.0.0/17', 2, '169.254.0.13', '169.254.0.14'],
    ['169.254.0.0/17', 3, '169.254.0.15', '169.254.0.16'],
    ['169.254.0.0/17', 4095, '169.254.32.7', '169.254.32.8'],
    ['169.254.169.0/24', 2, '169.254.169.13', '169.254.169.14'],
    ['fd69::/112', 1, 'fd69::b', 'fd69::c'],
    ['fd69::/112', 2, 'fd69::d', 'fd69::e'],
  ])('in %s of network %i are %s and %s', (subnet, id, gateway, management) => {
    expect(addresses(subnet, id)).toEqual({ gateway: [gateway], management: [management] });
  });

  it('are of both families, in the order of the config', () => {
    expect(addresses('169.254.0.0/17,fd69::/112', 1)).toEqual({
      gateway: ['169.254.0.11', 'fd69::b'],
      management: ['169.254.0.12', 'fd69::c'],
    });
  });

  it.each([
    ['169.254.169.0/29', 9],
    ['169.254.169.0/29,fd69::/112', 9],
    ['169.254.0.0/17', 0],
  ])('in %s of network %i are none', (subnets, id) => {
    expect(addresses(subnets, id)).toEqual({ gateway: undefined, management: undefined });
  });

  it('end with the subnet: the last address that fits is given', () => {
    expect(addresses('169.254.0.0/28', 2)).toEqual({ gateway: ['169.254.0.13'], management: ['169.254.0.14'] });
    expect(addresses('169.254.0.0/28', 3)).toEqual({ gateway: ['169.254.0.15'], management: undefined });
  });

  it('are nobody else’s', () => {
    const config = parseClusterConfig();
    const fixed = Object.keys(MASQUERADE_OFFSETS).flatMap((name) =>
      masqueradeAddresses(config, name as keyof typeof MASQUERADE_OFFSETS),
    );
    const id = fc.integer({ min: 1, max: 4095 }).map(parseNetworkId);
    const of = (network: ReturnType<typeof parseNetworkId>) => [
      ...(networkMasqueradeAddresses(config, network, 'gateway') ?? []),
      ...(networkMasqueradeAddresses(config, network, 'management') ?? []),
    ];
    fc.assert(
      fc.property(id, id, (a, b) => {
        const all = [...fixed, ...of(a), ...(a === b ? [] : of(b))];
        expect(new Set(all).size).toBe(all.length);
      }),
    );
  });
});
