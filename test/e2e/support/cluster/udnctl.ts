/** udnctl of a node, and what it says of networks. */
import { z } from 'zod';
import { networkStatusSchema } from '../../../../api/agent-status.ts';
import { CommandError } from '../../../../datapath/exec/errors.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

export interface Said {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number;
}

/** Also where it fails. */
export const udnctl = async (sandbox: Sandbox, node: string, ...args: readonly string[]): Promise<Said> => {
  try {
    return { ...(await sandbox.node(node, ['udnctl', ...args])), status: 0 };
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
