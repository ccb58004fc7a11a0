/** Whose conntrack zones are: ovn-controller names them by routers and ports (`ct-zone-<name>` of br-int's `external_ids`). */
import type { PodAttachments } from '../model/attachments.ts';
import { podKey } from '../model/facts.ts';
import {
  clusterRouterName,
  gatewayRouterName,
  managementPortName,
  podPortName,
  transitRouterName,
} from '../model/names.ts';

export interface ZoneOwner {
  readonly network: string;
  /** `namespace/name`, of the zone of a pod's port. */
  readonly pod?: string;
}

const ZONE_PREFIX = 'ct-zone-';

/** Zones of routers, which have two, and of ports by their number; as ovn-controller does, without what is no number. @param externalIds of br-int */
export const zoneNames = (externalIds: Readonly<Record<string, string>>): ReadonlyMap<number, string> =>
  new Map(
    Object.entries(externalIds).flatMap(([key, zone]) => {
      const found = zoneNameOf(key, zone);
      return found === undefined ? [] : [found];
    }),
  );

/** Of one entry; undefined: it is none of a zone. */
export const zoneNameOf = (key: string, zone: string): readonly [zone: number, name: string] | undefined =>
  key.startsWith(ZONE_PREFIX) && ZONE.test(zone) ? [Number(zone), key.slice(ZONE_PREFIX.length)] : undefined;

/** The datapath has 2^16 of them. */
const ZONE = /^\d{1,5}$/;

/** @param node this one @returns by the zone's name */
export const zoneOwners = (
  networks: Iterable<string>,
  pods: Iterable<PodAttachments>,
  node: string,
): ReadonlyMap<string, ZoneOwner> => {
  const owners = new Map<string, ZoneOwner>();
  for (const network of networks) {
    const routers = [clusterRouterName(network), transitRouterName(network), gatewayRouterName(network, node)];
    for (const router of routers) for (const kind of ['snat', 'dnat']) owners.set(`${router}_${kind}`, { network });
    owners.set(managementPortName(network, node), { network });
  }
  for (const { pod, attachments } of pods) {
    for (const { nadKey, network } of attachments) {
      const name = podPortName(nadKey, pod.namespace, pod.name);
      owners.set(name, { network: network.name, pod: podKey(pod) });
    }
  }
  return owners;
};
