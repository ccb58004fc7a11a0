/** What commands read on a node besides its agent. */
import { type Conntrack, createConntrack } from '../../datapath/conntrack/conntrack.ts';
import { createCommandRunner } from '../../datapath/exec/node-runner.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { vswitchdControl } from '../../datapath/exec/vswitchd-control.ts';
import { defaultAddonPath, loadAddon } from '../../datapath/netlink/kernel/addon.ts';
import { LinuxKernel } from '../../datapath/netlink/kernel/linux.ts';
import { NftProgram } from '../../datapath/nftables/nft-program.ts';
import type { Transact } from '../flows/datapaths.ts';
import { lazyDatabase } from './database.ts';
import type { RemoteOptions } from './node-command.ts';
import { netnsPaths, podNetns } from './pod-netns.ts';

export const commandRunner = (): CommandRunner => createCommandRunner();

export const openKernel = (): LinuxKernel => new LinuxKernel(loadAddon(defaultAddonPath()));

export const podNetnsBy = (kernel: LinuxKernel): ReturnType<typeof podNetns> => podNetns(kernel, netnsPaths);

export const hostTableBy =
  (runner: CommandRunner): (() => ReturnType<NftProgram['list']>) =>
  () =>
    new NftProgram({ runner }).list();

export const conntrackBy = (runner: CommandRunner): Conntrack => createConntrack(runner, vswitchdControl);

interface Databases extends AsyncDisposable {
  readonly northbound: Transact;
  readonly southbound: Transact;
  readonly openvswitch: Transact;
}

/** Each is connected to when it is first asked. */
export const databasesOf = ({ nbRemote, sbRemote, ovsRemote }: RemoteOptions): Databases => {
  const northbound = lazyDatabase('OVN_Northbound', nbRemote);
  const southbound = lazyDatabase('OVN_Southbound', sbRemote);
  const openvswitch = lazyDatabase('Open_vSwitch', ovsRemote);
  return {
    northbound: northbound.transact,
    southbound: southbound.transact,
    openvswitch: openvswitch.transact,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([northbound, southbound, openvswitch].map((database) => database.close()));
    },
  };
};
