/**
 * The one thing to do next, for what is there now. Pure. What decides is written down in the bridge's record or is there to
 * be seen, so it does not matter where an earlier process ended.
 */
import type { Cidr } from '../../../net/cidr.ts';
import { chooseBridge, uplinkOf } from './choose.ts';
import { UplinkError } from './errors.ts';
import { type BridgeNow, follow, lacks, mayComeBack, othersThan, refresh } from './follow.ts';
import { nextHandover } from './handover.ts';
import { MOVE_KEY, type MoveRecord, parseMoveRecord } from './move-record.ts';
import { portableOf } from './portable.ts';
import type { Bridge, GatewayOptions, HostSnapshot, UplinkStep, World } from './types.ts';

/** The gateway bridge as it was last: what is needed to make it again when somebody deletes it. */
export interface Memory {
  readonly bridge: string;
  readonly uplink: string | undefined;
  readonly record: MoveRecord;
  /** Of the bridge's interface: another one has lost what this one had. */
  readonly index: number;
}

export type Decision =
  | { readonly kind: 'step'; readonly step: UplinkStep }
  /** Nothing to do. Without a bridge there is none, and none is desired. */
  | { readonly kind: 'settled'; readonly memory?: Memory }
  /** For something that an event reports. */
  | { readonly kind: 'waiting'; readonly what: string }
  | { readonly kind: 'absent'; readonly error: UplinkError };

export interface UplinkInputs {
  readonly options: Pick<GatewayOptions, 'interface'>;
  readonly masqueradeSubnets: readonly Cidr[];
  /** The bridge's interface was down since it was settled last, though it may be up again. */
  readonly wasDown?: boolean;
}

/** Towards a gateway bridge that has the node's addresses. */
export const stepIn = (inputs: UplinkInputs, world: World, memory?: Memory): Decision => {
  const choice = chooseBridge(inputs.options, world, memory?.bridge);
  if (choice.kind === 'use') return useBridge(choice.bridge, inputs, world, memory);
  const isLost = memory !== undefined && !world.switch.bridges.some(({ name }) => name === memory.bridge);
  if (isLost) return createAgain(memory, world);
  if (choice.kind === 'absent') return choice;
  const { bridge, nic } = choice;
  if (nic.mac === undefined) return waiting(`interface ${nic.name} to have a MAC address`);
  const portable = portableOf(world.host, nic.name, inputs.masqueradeSubnets);
  const record: MoveRecord = { nic: nic.name, phase: 'moving', mac: nic.mac, ...portable };
  return step({ kind: 'create', bridge, uplink: nic.name, record });
};

/** Towards a NIC that has everything back, and no bridge of ours. */
export const stepOut = ({ masqueradeSubnets }: Pick<UplinkInputs, 'masqueradeSubnets'>, world: World): Decision => {
  const bridge = world.switch.bridges.find(({ externalIds }) => externalIds[MOVE_KEY] !== undefined);
  if (bridge === undefined) return { kind: 'settled' };
  const record = recordOf(bridge);
  const nic = record?.nic;
  if (record === undefined || nic === undefined) return unreadable(bridge);
  const { host } = world;
  if (record.phase === 'moved') {
    const now = bridgeNow({ masqueradeSubnets }, bridge.name, host, record);
    return step({ kind: 'record', bridge: bridge.name, record: { ...follow(record, now), phase: 'moving' } });
  }
  const hasNic = host.links.some(({ name }) => name === nic);
  const ops = hasNic ? nextHandover({ ...record, from: bridge.name, to: nic }, host) : [];
  return step(ops.length > 0 ? { kind: 'kernel', ops } : { kind: 'delete', bridge: bridge.name });
};

/** Its NIC is a port of the bridge still, or nobody's: only what was before it is missing. */
const createAgain = ({ bridge, uplink, record }: Memory, { host }: World): Decision => {
  const missing = uplink !== undefined && !host.links.some(({ name }) => name === uplink);
  if (missing) return waiting(`interface ${uplink}`);
  const routes = record.routes.filter((route) => mayComeBack(route, record, record, othersThan(bridge, host)));
  return step({ kind: 'create', bridge, uplink, record: { ...record, routes, phase: 'moving' } });
};

const bridgeNow = (
  { masqueradeSubnets, wasDown = false }: Pick<UplinkInputs, 'masqueradeSubnets' | 'wasDown'>,
  bridge: string,
  host: HostSnapshot,
  record: MoveRecord | undefined,
  memory?: Memory,
): BridgeNow => {
  const portable = portableOf(host, bridge, masqueradeSubnets);
  const link = host.links.find(({ name }) => name === bridge);
  const isOther = memory !== undefined && memory.bridge === bridge && memory.index !== link?.index;
  const isBare = portable.addresses.length === 0 && (record?.addresses.length ?? 0) > 0;
  const isDown = wasDown || link?.up === false;
  return {
    ...portable,
    others: othersThan(bridge, host),
    interruption: isOther || isBare ? 'lost' : isDown ? 'down' : 'none',
  };
};

const useBridge = (bridge: Bridge, inputs: UplinkInputs, world: World, memory: Memory | undefined): Decision => {
  const made = recordOf(bridge);
  return made === undefined ? useAdopted(bridge, inputs, world, memory) : useMade(bridge, made, inputs, world, memory);
};

const useMade = (
  bridge: Bridge,
  record: MoveRecord,
  inputs: UplinkInputs,
  { host }: World,
  memory: Memory | undefined,
): Decision => {
  const { nic = '' } = record;
  if (!host.links.some(({ name }) => name === nic)) return waiting(`interface ${nic}`);
  if (!bridge.ports.some(({ name }) => name === nic)) return step({ kind: 'attach', bridge: bridge.name, uplink: nic });
  const link = host.links.find(({ name }) => name === bridge.name);
  const now = bridgeNow(inputs, bridge.name, host, record, memory);
  const write = (changed: MoveRecord): Decision => step({ kind: 'record', bridge: bridge.name, record: changed });
  const refreshed = refresh(record, portableOf(host, nic, inputs.masqueradeSubnets), now);
  if (refreshed !== undefined) return write(refreshed);
  if (link?.mac === undefined) return waiting(`ovs-vswitchd to make interface ${bridge.name}`);
  // A new interface has some MAC for a moment: neighbours must not learn it.
  if (bridge.mac !== undefined && link.mac !== bridge.mac) {
    return waiting(`ovs-vswitchd to give interface ${bridge.name} the MAC ${bridge.mac}`);
  }
  if (record.phase === 'moving') {
    const ops = nextHandover({ ...record, from: nic, to: bridge.name }, host);
    return ops.length > 0 ? step({ kind: 'kernel', ops }) : write({ ...record, phase: 'moved' });
  }
  const followed = { ...follow(record, now), mac: link.mac };
  if (!link.up || lacks(now, followed)) return write({ ...followed, phase: 'moving' });
  if (lacks(record, followed) || lacks(followed, record) || link.mac !== record.mac) return write(followed);
  return { kind: 'settled', memory: { bridge: bridge.name, uplink: nic, record, index: link.index } };
};

/** It keeps what it had in the life of this process: ovs-vswitchd takes the interface away when it ends. */
const useAdopted = (bridge: Bridge, inputs: UplinkInputs, { host }: World, memory: Memory | undefined): Decision => {
  const link = host.links.find(({ name }) => name === bridge.name);
  if (link?.mac === undefined) return waiting(`ovs-vswitchd to make interface ${bridge.name}`);
  const known = memory?.bridge === bridge.name && memory.record.nic === undefined ? memory.record : undefined;
  const now = bridgeNow(inputs, bridge.name, host, known, memory);
  const { addresses, routes } = now;
  const record: MoveRecord = known ?? { nic: undefined, phase: 'moved', mac: link.mac, addresses, routes };
  const followed = { ...follow(record, now), mac: link.mac };
  const isSetDown = known !== undefined && known.addresses.length > 0 && !link.up;
  const ops =
    isSetDown || lacks(now, followed) ? nextHandover({ ...followed, from: undefined, to: bridge.name }, host) : [];
  if (ops.length > 0) return step({ kind: 'kernel', ops });
  return {
    kind: 'settled',
    memory: { bridge: bridge.name, uplink: uplinkOf(bridge), record: followed, index: link.index },
  };
};

/** One that cannot be read is none: the bridge is used as it is, and cannot be given back. */
const recordOf = ({ name, externalIds }: Bridge): MoveRecord | undefined => {
  const text = externalIds[MOVE_KEY];
  try {
    return text === undefined ? undefined : parseMoveRecord(text, name);
  } catch {
    return undefined;
  }
};

const unreadable = ({ name }: Bridge): Decision => ({
  kind: 'absent',
  error: new UplinkError('ERR_UPLINK_RECORD', `bridge ${name} no longer records the configuration of its interface`),
});

const step = (one: UplinkStep): Decision => ({ kind: 'step', step: one });
const waiting = (what: string): Decision => ({ kind: 'waiting', what });
