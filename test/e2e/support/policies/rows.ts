/** What of policies is in a node's northbound database. */
import type { Sandbox } from '../../../../sandbox/index.ts';

/** Matches of all ACLs, and members of all address sets, a line each. */
export const policyRows = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<string> => {
  const list = async (table: string, column: string): Promise<string> =>
    (await sandbox.node(node, ['ovn-nbctl', '--bare', `--columns=${column}`, 'list', table])).stdout;
  return (await Promise.all([list('ACL', 'match'), list('Address_Set', 'addresses')])).join('\n');
};

/** Members of all address sets of a node. */
export const addressesInSets = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<string[]> => {
  const argv = ['ovn-nbctl', '--bare', '--columns=addresses', 'list', 'Address_Set'];
  return [...new Set((await sandbox.node(node, argv)).stdout.split(/\s+/).filter((text) => text !== ''))];
};
