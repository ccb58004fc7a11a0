import type { GatewayFact, NetworkFact } from '../../../model/facts.ts';

/**
 * In local gateway mode answers come from the management port, so that the router sees one direction of a connection
 * only: it has to remember all of them. ovn-nb(5), Logical_Router, `ct-commit-all`.
 */
export const commitAll = (
  { role }: Pick<NetworkFact, 'role'>,
  mode: GatewayFact['mode'] | undefined,
): Record<string, string> => (mode === 'local' && role !== 'default' ? { 'ct-commit-all': 'true' } : {});
