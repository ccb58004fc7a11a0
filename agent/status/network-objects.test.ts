import { expect, it } from 'vitest';
import { type HostItem, hostItemKey } from '../../datapath/host/types.ts';
import { nftItemKey } from '../../datapath/nftables/types.ts';
import { bridgeItemKey } from '../../datapath/openflow/types.ts';
import { ItemStore } from '../desired/item-store.ts';
import type { NodeDatapath } from '../reconcile/node-datapath.ts';
import { countNetworkObjects } from './network-objects.ts';

const sysctl = (key: string): HostItem => ({ kind: 'sysctl', sysctl: { key, value: '1' } });

it('counts what each network has, and nothing of the node or of pods', () => {
  const host = new ItemStore(hostItemKey, () => undefined);
  host.set('host-network:red/a', [sysctl('a'), sysctl('b')]);
  host.set('host-network:blue', [sysctl('c')]);
  host.set('host-gateway:', [sysctl('d')]);
  const loops = {
    host: { store: host },
    openflow: { store: new ItemStore(bridgeItemKey, () => undefined) },
    nftables: { store: new ItemStore(nftItemKey, () => undefined) },
  } as unknown as NodeDatapath;
  expect(countNetworkObjects(loops)).toEqual([
    { network: 'red/a', backend: 'host', count: 2 },
    { network: 'blue', backend: 'host', count: 1 },
  ]);
});
