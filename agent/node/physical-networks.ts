/** Which physical networks this node has, as facts: `ovn-bridge-mappings`, by event, as far as the bridges are there. */
import type { VswitchReplica } from '../databases/vswitch.ts';
import type { FactStore } from '../model/fact-store.ts';
import { bridgesOf } from './uplink/bridge-mappings.ts';

/** @returns what ends it */
export const followPhysicalNetworks = (
  facts: Pick<FactStore, 'set'>,
  replica: Pick<VswitchReplica, 'rows' | 'findOne' | 'onUpdate'>,
): (() => void) => {
  let known: ReadonlyMap<string, string> = new Map();
  const look = (): void => {
    const now = mapped(replica);
    for (const network of known.keys()) if (!now.has(network)) facts.set('physicalBridge', network, undefined);
    for (const [network, bridge] of now) facts.set('physicalBridge', network, bridge);
    known = now;
  };
  look();
  return replica.onUpdate(({ kind, changes }) => {
    if (kind === 'replaced' || changes.some(({ table }) => table === 'Open_vSwitch' || table === 'Bridge')) look();
  });
};

/** ovn-controller connects nothing to a bridge that is not there. */
const mapped = (replica: Pick<VswitchReplica, 'rows' | 'findOne'>): Map<string, string> => {
  const [row] = replica.rows('Open_vSwitch');
  const all = [...bridgesOf(row?.external_ids['ovn-bridge-mappings'])];
  return new Map(all.filter(([, bridge]) => replica.findOne('Bridge', 'name', bridge) !== undefined));
};
