import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { parseNetConf } from '../../api/net-conf.ts';
import { type Network, networkOfNetConf } from '../../api/network.ts';
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
      'network id 7 belongs to network a already',
      'tunnel key 16715790 belongs to network a already',
    ]);
    expect(ledger.recover('a', keys(8, 16711691, 16715791))).toEqual([
      "network id 8 is not the network's: 7 stays",
      "tunnel key 16715791 is not the network's: 16715790 stays",
    ]);
    expect(ledger.assign(network('b'))).toEqual(keys(1, 16711684, 16715779));
    ledger.release('a');
    expect(ledger.recover('c', keys(7, 16711690, 16715790))).toEqual([]);
  });
});
