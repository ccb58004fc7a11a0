/** The network between the nodes: a bridge in a network namespace of its own, with a veth into every machine. */

import { plainHostBatch, UPLINK, underlayBatch } from '../plan/links.ts';
import type { HostPlan, NetPlan } from '../plan/netplan.ts';
import { BRIDGE } from '../plan/netplan.ts';
import { run } from '../process/run.ts';
import { treeCommand } from '../tree/tree.ts';
import type { Machine } from './types.ts';

export interface UnderlayParts {
  readonly tree: string;
  readonly plan: NetPlan;
  /** More of the underlay's own, ip(8) batch lines. */
  readonly routes: readonly string[];
  readonly underlay: Machine;
  readonly outside: Machine;
  readonly nodes: readonly Machine[];
}

/** Cables everything up. Nodes still have to bring up their end. */
export const connectMachines = async ({
  tree,
  plan,
  routes,
  underlay,
  outside,
  nodes,
}: UnderlayParts): Promise<void> => {
  const pids = new Map([outside, ...nodes].map(({ name, pid }) => [name, pid]));
  const pidOf = ({ name }: HostPlan): number => pids.get(name) ?? 0;
  const { file, args } = treeCommand(tree, 'usr/bin/ip');
  await run(underlay.enter([file, ...args, '-batch', '-']), `${underlayBatch(plan, pidOf)}${routes.join('\n')}\n`);
  await Promise.all([
    withoutChecksumOffload(underlay, BRIDGE, treeCommand(tree, 'usr/sbin/ethtool')),
    run(outside.enter(['ip', '-batch', '-']), plainHostBatch(plan, plan.outside)),
    withoutChecksumOffload(outside, UPLINK),
  ]);
};

/**
 * The userspace datapath reads frames as they are, so that a checksum which the sender leaves to the device never gets
 * filled in.
 */
const withoutChecksumOffload = async (
  machine: Machine,
  link: string,
  ethtool: { readonly file: string; readonly args: readonly string[] } = { file: 'ethtool', args: [] },
): Promise<void> => {
  await run(machine.enter([ethtool.file, ...ethtool.args, '-K', link, 'tx', 'off']));
};
