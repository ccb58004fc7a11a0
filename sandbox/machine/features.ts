/** What the kernel of this machine has. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Datapath } from '../plan/bridge.ts';
import type { Need } from '../plan/options.ts';

const features = z.object({ openvswitch: z.boolean(), geneve: z.boolean(), vrf: z.boolean(), sctp: z.boolean() });

export type KernelFeatures = Readonly<z.infer<typeof features>>;

export const readFeatures = async (toolbox: string): Promise<KernelFeatures> => {
  const { stdout } = await promisify(execFile)(toolbox, ['features']);
  return features.parse(JSON.parse(stdout));
};

/** Tunnels of the kernel datapath need the kernel's geneve; the userspace datapath has its own. */
export const datapathOf = ({ openvswitch, geneve }: KernelFeatures): Datapath =>
  openvswitch && geneve ? 'system' : 'netdev';

/** What this kernel lacks of what is needed. */
export const lackOf = (features: KernelFeatures, needs: readonly Need[]): Need[] =>
  needs.filter((need) => (need === 'kernel-datapath' ? datapathOf(features) === 'netdev' : !features[need]));
