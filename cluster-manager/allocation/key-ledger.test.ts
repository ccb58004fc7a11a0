import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { parseNetConf } from '../../api/net-conf.ts';
import { type Network, networkOfNetConf } from '../../api/network.ts';
import { parseNetworkIdPool } from '../../api/network-id-pool.ts';
import { parseDatapathKey, parseNetworkId } from '../../net/ids.ts';
import { netConf } from '../testing/objects.ts';
import { KeyLedger } from './key-ledger.ts';

const network = (name: string): Network => {
  const conf = parseNetConf(JSON.stringify(netConf('ns/n', name)), { namespace: 'ns', name: 'n' });
  return networkOfNetConf(conf!, parseClusterConfig());
};
const keys = (id: number, ...tunnelKeys: readonly number[]) => ({
  id: parseNetworkId(id),
  tunnelKeys: tunnelKeys.map(parseDatapathKey),
});

describe('what a NAD says that a network has', () => {
  it('is no key below those that are given out: the network keeps its id and gets another key', () => {
    const ledger = new KeyLedger(parseClusterConfig());
    expect(ledger.recover('a', keys(7, 5, 6))).toEqual(['tunnel key 6 is below 16715779']);
    expect(ledger.assign(network('a'))).toEqual(keys(7, 16711690, 16715785));
  });

  it('is not the id of the default network', () => {
    const ledger = new KeyLedger(parseClusterConfig());
    expect(ledger.recover('a', keys(0))).toEqual(['network id 0 is that of the default network']);
    expect(ledger.assign(network('a')).id).toBe(1);
  });

  it('is not what another one has, nor a second of anything', () => {
    const ledger = new KeyLedger(parseClusterConfig());
    expect(ledger.recover('a', keys(7, 16711690, 16715790))).toEqual([]);
    expect(ledger.recover('b', keys(7, 16711690, 16715790))).toEqual([
      'network id 7 already belongs to network a',
      'tunnel key 16715790 already belongs to network a',
    ]);
    expect(ledger.recover('a', keys(8, 16711691, 16715791))).toEqual([
      'network id 8 is not that of the network: keeping 7',
      'tunnel key 16715791 is not that of the network: keeping 16715790',
    ]);
    expect(ledger.assign(network('b'))).toEqual(keys(1, 16711684, 16715779));
    ledger.release('a');
    expect(ledger.recover('c', keys(7, 16711690, 16715790))).toEqual([]);
  });
});

const NOW = '2026-01-01T00:00:00Z';
type Retired = { id: number; network?: string; routerKey?: number };
const pool = (given: string, ...retired: readonly Retired[]) => {
  const list = retired.map((one) => ({ retirement: 1, since: NOW, ...one }));
  return parseNetworkIdPool({ metadata: { name: 'cluster' }, status: { given, retirement: 1, retired: list } }).status;
};
/** The key that follows from id 1: network b got it when keys did not follow from ids. */
const OTHERS = 16715779;
const b = keys(2, 16711685, OTHERS);

describe('the router key of a network that lives', () => {
  const upgraded = (ledger: KeyLedger, ...ids: readonly number[]): void => {
    ledger.record.follow(undefined);
    ledger.record.suspect(ids);
  };
  const before: readonly (readonly [string, (ledger: KeyLedger) => void])[] = [
    ['nothing was written down of', () => {}],
    ['nothing was written down of, and no node reports', (ledger) => upgraded(ledger)],
    ['nothing was written down of, and one node reports', (ledger) => upgraded(ledger, 1, 2)],
    ['is in use', (ledger) => ledger.record.follow(pool('1-2'))],
    ['has no router key, and is retired', (ledger) => ledger.record.follow(pool('1-2', { id: 1, network: 'c' }))],
    ['is retired, nobody knows of whom', (ledger) => ledger.record.follow(pool('1-2', { id: 1 }))],
    ['is retired with another key', (ledger) => ledger.record.follow(pool('1-2', { id: 1, routerKey: 16720000 }))],
  ];

  it.each(before)('stays where it follows from an id that %s', (_, follow) => {
    const ledger = new KeyLedger(parseClusterConfig());
    follow(ledger);
    // The older one first.
    expect(ledger.recover('b', b)).toEqual([]);
    expect(ledger.assign(network('b'))).toEqual(b);
  });

  it('is another one where a deleted network is known to have had it', () => {
    const ledger = new KeyLedger(parseClusterConfig());
    ledger.record.follow(pool('1-2', { id: 1, network: 'c', routerKey: OTHERS }));
    expect(ledger.recover('b', b)).toEqual([`tunnel key ${OTHERS} is reserved: nodes may still use it`]);
    expect(ledger.assign(network('b'))).toEqual(keys(2, 16711685, OTHERS + 1));
  });

  it('is written down when the network goes, also where it follows from the id', () => {
    const ledger = new KeyLedger(parseClusterConfig());
    ledger.record.follow(undefined);
    const a = keys(1, 16711684, OTHERS);
    ledger.recover('a', a);
    ledger.release('a');
    expect(ledger.record.plan(0, NOW).status.retired).toMatchObject([{ id: 1, network: 'a', routerKey: OTHERS }]);
    // Who comes back under its name has it still.
    expect(ledger.recover('a', a)).toEqual([]);
  });

  it('is not given to a new network while anybody may have it', () => {
    const ledger = new KeyLedger(parseClusterConfig());
    ledger.record.follow(pool('1-5', { id: 5, routerKey: 16719874 }));
    ledger.recover('b', b);
    ledger.recover('new', keys(1));
    // What follows from id 1 is that of b, and what follows from none first is that of the deleted one.
    expect(ledger.assign(network('new')).tunnelKeys[1]).toBe(16719875);
  });
});
