/** Breaks isolation, for tests of what finds that out. */
import type { Sandbox } from '../../../../sandbox/index.ts';

/** Of all port groups of the node. Returns when the flows are gone, too. */
export const removeAcls = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<void> => {
  const { stdout } = await sandbox.node(node, ['ovn-nbctl', '--bare', '--columns=_uuid', 'list', 'Port_Group']);
  for (const group of stdout.split('\n').filter((line) => line !== '')) {
    await sandbox.node(node, ['ovn-nbctl', '--wait=hv', 'clear', 'Port_Group', group, 'acls']);
  }
};
