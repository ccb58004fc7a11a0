/** udnctl of a node, and what it says of networks. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import { networkStatusSchema } from '../../../../api/agent-status.ts';
import { CommandError } from '../../../../datapath/exec/errors.ts';
import type { CommandOutput } from '../../../../datapath/exec/types.ts';
import { findArtifacts } from '../../../../sandbox/artifacts.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

export interface Said {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number;
}

/** Also where it fails. */
export const udnctl = (sandbox: Sandbox, node: string, ...args: readonly string[]): Promise<Said> =>
  said(sandbox.node(node, ['udnctl', ...args]));

/** As udnctl says it in a pid namespace of its own, where no process of the node is seen: as in a pod without `hostPID`. */
export const confinedUdnctl = (sandbox: Sandbox, node: string, ...args: readonly string[]): Promise<Said> =>
  said(sandbox.node(node, [...CONFINED, 'udnctl', ...args]));

export const CONFINED = ['unshare', '--pid', '--fork', '--mount-proc'] as const;

/** As somebody runs it who has a kubeconfig and no node: on this machine, outside of the cluster. */
export const udnctlOutside = async (sandbox: Sandbox, ...args: readonly string[]): Promise<Said> => {
  const { kubeconfig } = await sandbox.status();
  const { node, dist } = findArtifacts();
  const env = { PATH: process.env['PATH'], KUBECONFIG: kubeconfig };
  return await new Promise((resolve) => {
    execFile(node, [join(dist, 'udnctl.mjs'), ...args], { env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, status: error === null ? 0 : Number(error.code) }),
    );
  });
};

const said = async (running: Promise<CommandOutput>): Promise<Said> => {
  try {
    return { ...(await running), status: 0 };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { stdout: error.stdout, stderr: error.stderr, status: error.exitCode ?? -1 };
  }
};

export type NetworkStatus = z.infer<typeof networkStatusSchema>;

export const networksOn = async (sandbox: Sandbox, node: string): Promise<readonly NetworkStatus[]> => {
  const { stdout } = await sandbox.node(node, ['udnctl', 'networks', '-o', 'json']);
  return z.array(networkStatusSchema).parse(JSON.parse(stdout));
};

/** `red_net ready` */
export const networkStatesOn = async (sandbox: Sandbox, node: string): Promise<readonly string[]> =>
  (await networksOn(sandbox, node)).map(({ name, state }) => `${name} ${state}`).sort();

/** @throws Error when the node has no such network */
export const networkNamed = async (sandbox: Sandbox, node: string, name: string): Promise<NetworkStatus> => {
  const found = (await networksOn(sandbox, node)).find((one) => one.name === name);
  if (found === undefined) throw new Error(`${node} has no network ${name}`);
  return found;
};
