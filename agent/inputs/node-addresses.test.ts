import { expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { FactStore } from '../model/fact-store.ts';
import { NodeAddresses } from './node-addresses.ts';

const node = (internal: readonly string[], host: readonly string[] = []) => ({
  internalIps: internal.map(parseIp),
  hostAddresses: host.map(parseInterfaceAddress),
  gateway: undefined,
});

it('an address is a node’s as long as one of them has it', () => {
  const facts = new FactStore();
  const addresses = new NodeAddresses(facts);
  const isNodes = (ip: string): boolean => facts.get('nodeAddress', ip) === true;
  const first = node(['172.30.0.2'], ['172.30.0.2/24', '172.17.0.1/16']);
  const second = node(['172.30.0.3', 'fd00::3'], ['172.17.0.1/16']);
  addresses.change(undefined, first);
  addresses.change(undefined, second);
  expect(['172.30.0.2', '172.30.0.3', 'fd00::3', '172.17.0.1'].map(isNodes)).toEqual([true, true, true, true]);
  addresses.change(first, node(['172.30.0.4']));
  expect(['172.30.0.2', '172.30.0.4', '172.17.0.1'].map(isNodes)).toEqual([false, true, true]);
  addresses.change(second, undefined);
  expect(['172.30.0.3', 'fd00::3', '172.17.0.1'].map(isNodes)).toEqual([false, false, false]);
});
