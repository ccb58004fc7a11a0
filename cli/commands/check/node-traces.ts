/** Looks at the node that this is. */
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { createCommandRunner } from '../../../datapath/exec/node-runner.ts';
import { defaultAddonPath, loadAddon } from '../../../datapath/netlink/kernel/addon.ts';
import { LinuxKernel } from '../../../datapath/netlink/kernel/linux.ts';
import { NftProgram } from '../../../datapath/nftables/nft-program.ts';
import type { NodePrograms } from './foreign-plugins.ts';
import type { NodeTraces } from './kube-proxy.ts';

export const nodeTraces = (): NodeTraces & NodePrograms => ({
  isProgram,
  chains: () => new NftProgram({ runner: createCommandRunner() }).chains(),
  links: () => {
    using kernel = new LinuxKernel(loadAddon(defaultAddonPath()));
    return kernel
      .netns()
      .links()
      .map(({ name }) => name);
  },
  processes: () => readdirSync('/proc').flatMap((entry) => (/^[0-9]+$/.test(entry) ? nameOf(entry) : [])),
});

/** Undefined for one that has ended meanwhile. */
const nameOf = (pid: string): string[] => {
  try {
    return [readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd()];
  } catch {
    return [];
  }
};

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};
