/** Whether a node has the programs that its agent may run for networks of other plugins. */
import { join } from 'node:path';
import { parseForeignPlugins } from '../../../api/foreign-plugins.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { readAgentSettings, settingOf } from './agent-settings.ts';
import { type Finding, findingOf, ok, warning } from './finding.ts';

const WHAT = 'foreign-plugins, on this node';
const DEFAULT_FOLDER = '/opt/cni/bin';

/** Of the node that this is. */
export interface NodePrograms {
  /** A file that may be executed. */
  isProgram(path: string): boolean;
}

/**
 * None where all are there. They are not executed: in the container of an agent they lack what they find on the host.
 * @param namespace of the programs
 */
export const checkForeignPlugins = async (
  client: KubeClient,
  namespace: string,
  node: NodePrograms,
): Promise<Finding[]> => {
  const finding = await findingOf(WHAT, async () => {
    const agents = await readAgentSettings(client, namespace);
    const text = agents && settingOf(agents, 'foreign-plugins');
    if (agents === undefined || text === undefined || text === 'none') return ok(WHAT);
    const folder = settingOf(agents, 'cni-bin-dir') ?? DEFAULT_FOLDER;
    const types = new Set(parseForeignPlugins(text).map(({ type }) => type));
    const missing = [...types].filter((type) => !node.isProgram(join(folder, type)));
    if (missing.length === 0) return ok(WHAT);
    const where = `not in ${folder}, or no program: ${missing.join(', ')}`;
    return warning(
      WHAT,
      `${where}; pods that need one do not start, unless the runtime's CNI_PATH has it in another folder`,
    );
  });
  return finding.result === 'ok' ? [] : [finding];
};
