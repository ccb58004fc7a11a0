import { describe, expect, it } from 'vitest';
import { parseCidr } from '../net/cidr.ts';
import { parseIp } from '../net/ip.ts';
import { gatewayMac, managementIp, managementMac } from './network.ts';

const DEFAULTS = { defaultGatewayIps: [] };
const [v4, v6] = [parseCidr('192.168.1.0/24'), parseCidr('fd00:10:128::/64')];

describe('the management port', () => {
  it('has the second address, and the MAC of the IPv4 one whatever comes first', () => {
    expect(managementIp(DEFAULTS, v4)).toBe('192.168.1.2');
    expect(managementMac(DEFAULTS, [v4])).toBe('0a:58:c0:a8:01:02');
    expect(managementMac(DEFAULTS, [v6, v4])).toBe('0a:58:c0:a8:01:02');
    expect(managementMac(DEFAULTS, [v6])).toMatch(/^0a:58:/);
    expect(managementMac(DEFAULTS, [])).toBeUndefined();
  });

  it('makes room for a gateway at the second address', () => {
    const moved = { defaultGatewayIps: [parseIp('192.168.1.2')] };
    expect(managementIp(moved, v4)).toBe('192.168.1.1');
    expect(managementMac(moved, [v4])).toBe('0a:58:c0:a8:01:01');
    expect(gatewayMac(moved, [v4])).toBe('0a:58:c0:a8:01:02');
  });
});
