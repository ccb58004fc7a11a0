/** What an agent finds out on its node and no annotation has: assumed, and reported. */
import type { FactStore } from '../model/fact-store.ts';
import { type GatewayFact, LOCAL } from '../model/facts.ts';
import type { Diagnostic } from '../model/fragment.ts';
import { bridgesOf, mergeMappings } from '../node/uplink/bridge-mappings.ts';

export interface KnownOfNode {
  readonly node: string;
  readonly gatewayMode?: GatewayFact['mode'] | undefined;
  readonly kubeletCgroup?: string | undefined;
  /** As `ovn-bridge-mappings` has them: `dc:br-dc,lan:br-lan`; that of `physnet` is the gateway bridge anyway. */
  readonly bridgeMappings?: string | undefined;
}

export const completeNodeFacts = (
  facts: FactStore,
  { node, gatewayMode, kubeletCgroup, bridgeMappings }: KnownOfNode,
): Diagnostic[] => {
  const cgroup =
    kubeletCgroup === undefined ? undefined : { path: kubeletCgroup, level: kubeletCgroup.split('/').length };
  facts.set('kubeletCgroup', LOCAL, cgroup);
  if (gatewayMode !== undefined) {
    for (const name of facts.ids('node')) {
      const gateway = facts.get('gateway', name);
      if (gateway !== undefined) facts.set('gateway', name, { ...gateway, mode: gatewayMode });
    }
  }
  const gateway = facts.get('gateway', node);
  for (const [network, bridge] of bridgesOf(mergeMappings(bridgeMappings, gateway?.bridge)))
    facts.set('physicalBridge', network, bridge);
  if (gateway === undefined || gateway.uplink !== undefined) return [];
  const uplink = uplinkOf(gateway.bridge);
  facts.set('gateway', node, { ...gateway, uplink });
  const message = `the input does not name the uplink port of ${gateway.bridge}: assuming ${uplink}`;
  return [{ object: `Node/${node}`, severity: 'info', message }];
};

/** A bridge that was made for a network card is named after it: `breth0`. */
const uplinkOf = (bridge: string): string => {
  const [, card = DEFAULT_UPLINK] =
    /^br((?:eth|en|bond|team|ib|wl|veth|vlan)[a-z0-9._-]*[0-9][a-z0-9._-]*)$/.exec(bridge) ?? [];
  return card;
};

const DEFAULT_UPLINK = 'eth0';
