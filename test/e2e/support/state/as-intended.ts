/** That packets went where they should, and where they were lost when they did not. */
import { messageOf } from '../../../../base/error-message.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { differences } from '../../../oracles/reachability/evaluate.ts';
import { describeDifferences } from '../../../oracles/reachability/matrix.ts';
import { measureCluster, readPods } from '../../../oracles/reachability/measure.ts';
import type { Reachability } from '../../../oracles/reachability/types.ts';

/** Measures. @throws Error with the differences, and with the path of the first packet that was lost, as `udnctl trace` sees it */
export const expectAsIntended = async (
  sandbox: Pick<Sandbox, 'exec' | 'node' | 'objects'>,
): Promise<readonly Reachability[]> => {
  const results = await measureCluster(sandbox);
  const found = describeDifferences(results);
  if (found.length === 0) return results;
  const lost = differences(results).find(({ expected }) => expected);
  const path = lost === undefined ? '' : `; ${await pathOf(sandbox, lost)}`;
  throw new Error(`${found.length} differences: ${found.join('; ')}${path}`);
};

/** Its end is what a report keeps of a long message: where the packet went, and what lacks at the two pods. */
const pathOf = async (
  sandbox: Pick<Sandbox, 'node' | 'objects'>,
  { from, to, address }: Reachability,
): Promise<string> => {
  const pods = await readPods(await sandbox.objects());
  const ask = async (pod: string, ...args: readonly string[]): Promise<string> => {
    const node = pods.find(({ key }) => key === pod)?.node ?? '';
    const { stdout } = await sandbox
      .node(node, ['udnctl', ...args])
      .catch((error: unknown) => ({ stdout: messageOf(error) }));
    return stdout.replaceAll(/\s+/g, ' ').slice(0, OF_EACH);
  };
  const explained = await Promise.all([from, to].map(async (pod) => await ask(pod, 'explain', 'pod', pod)));
  return [...explained, await ask(from, 'trace', '--from', 'pod', from, '--to', address)].join('; ');
};

/** Characters: a report keeps 400 of a message's end (tools/reports.ts). */
const OF_EACH = 130;
