/** Whether the agents expect what the cluster has: Multus, which calls them for each network, or none. */
import { z } from 'zod';
import { CONFIG_MAPS, DAEMON_SETS } from '../../../kube/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { AGENT } from './expectations.ts';
import { type Finding, findingOf, ok, warning } from './finding.ts';
import { find } from './installed.ts';

const WHAT = 'multi-network';
const FLAG = '--multi-network=';
const VARIABLE = 'UDN_MULTI_NETWORK';
const MULTUS = /^(?:kube-)?multus(?:-|$)/;
const MORE = 'udnctl problems names the nodes whose CNI configuration says otherwise';

/** None where they agree, and where there are no agents. */
export const checkMultiNetwork = async (client: KubeClient, namespace: string): Promise<Finding[]> => {
  const finding = await findingOf(WHAT, async () => {
    const mode = await modeOfAgents(client, namespace);
    const { items } = await client.list(DAEMON_SETS);
    const multus = items.find(({ metadata }) => MULTUS.test(metadata.name))?.metadata.name;
    if (mode === 'native' && multus !== undefined) {
      const then = 'where Multus is the first plugin of a node, its calls for networks of ovn-udn fail';
      return warning(WHAT, `${FLAG}native, and ${multus} is in the cluster: ${then}; ${MORE}`);
    }
    if (mode === 'delegated' && multus === undefined) {
      const then = 'pods get no networks that they select, unless Multus runs by other means';
      return warning(WHAT, `${FLAG}delegated, and there is no DaemonSet of Multus: ${then}; ${MORE}`);
    }
    return ok(WHAT);
  });
  return finding.result === 'ok' ? [] : [finding];
};

const agentSchema = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        containers: z.array(
          z.object({
            args: z.array(z.string()).default([]),
            env: z.array(z.object({ name: z.string(), value: z.string().default('') })).default([]),
            envFrom: z.array(z.object({ configMapRef: z.object({ name: z.string() }).optional() })).default([]),
          }),
        ),
      }),
    }),
  }),
});
const configMapSchema = z.object({ data: z.record(z.string(), z.string()).default({}) });

/** As a program reads it: the flag, else the variable. Undefined: there are no agents. */
const modeOfAgents = async (client: KubeClient, namespace: string): Promise<string | undefined> => {
  const agent = await find(client, DAEMON_SETS, { namespace, name: AGENT });
  const [container] = agent === undefined ? [] : agentSchema.parse(agent).spec.template.spec.containers;
  if (container === undefined) return undefined;
  const flag = container.args.find((one) => one.startsWith(FLAG))?.slice(FLAG.length);
  const variable = container.env.find(({ name }) => name === VARIABLE)?.value;
  if (flag !== undefined || variable !== undefined) return flag ?? variable;
  const names = container.envFrom.flatMap(({ configMapRef }) => configMapRef?.name ?? []);
  const maps = await Promise.all(names.map((name) => find(client, CONFIG_MAPS, { namespace, name })));
  const settings = maps.flatMap((map) => (map === undefined ? [] : [configMapSchema.parse(map).data]));
  return settings.map((data) => data[VARIABLE]).find((value) => value !== undefined) ?? 'native';
};
