import type { Sandbox } from '../../../../sandbox/index.ts';

/** How often a program of the node was started again. */
export const restartsOf = async (sandbox: Sandbox, node: string, program = 'agent'): Promise<number> => {
  const { nodes } = await sandbox.status();
  const services = nodes.find(({ name }) => name === node)?.services ?? [];
  return services.find(({ name }) => name === program)?.restarts ?? 0;
};
