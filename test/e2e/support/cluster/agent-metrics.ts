/** What the agent of a node says at the socket that only root may open, where no account is asked for. */
import type { Sandbox } from '../../../../sandbox/index.ts';

export const STATUS_SOCKET = '/run/ovn-udn/agent.sock';

/** @throws when there is no agent */
export const agentMetrics = (sandbox: Sandbox, node: string): Promise<string> => askAgent(sandbox, node, '/metrics');

export const askAgent = async (sandbox: Sandbox, node: string, path: string): Promise<string> => {
  const { stdout } = await sandbox.node(node, ['curl', '-sf', '--unix-socket', STATUS_SOCKET, `http://agent${path}`]);
  return stdout;
};

/** How often the agent of a node has found that another program changed what is its own in the host's network stack and nftables. */
export const hostDrift = async (sandbox: Sandbox, node: string): Promise<number> => {
  const metrics = await agentMetrics(sandbox, node);
  const found = metrics.matchAll(/^udn_agent_drift_repairs_total\{backend="(?:host|nftables)"\} (\d+)$/gm);
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0);
};
