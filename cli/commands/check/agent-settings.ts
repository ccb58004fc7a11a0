/** What the DaemonSet of the agents gives them: their flags and variables. */
import { z } from 'zod';
import { CONFIG_MAPS, DAEMON_SETS } from '../../../kube/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { AGENT } from './expectations.ts';
import { find } from './installed.ts';

export interface AgentSettings {
  readonly args: readonly string[];
  /** By name, those of ConfigMaps included; empty where the value is somewhere else. */
  readonly variables: ReadonlyMap<string, string>;
}

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

/** Undefined: there are no agents. */
export const readAgentSettings = async (client: KubeClient, namespace: string): Promise<AgentSettings | undefined> => {
  const agent = await find(client, DAEMON_SETS, { namespace, name: AGENT });
  if (agent === undefined) return undefined;
  const { containers } = agentSchema.parse(agent).spec.template.spec;
  const names = containers.flatMap(({ envFrom }) => envFrom.flatMap(({ configMapRef }) => configMapRef?.name ?? []));
  const maps = await Promise.all(names.map((name) => find(client, CONFIG_MAPS, { namespace, name })));
  const ofMaps = maps.flatMap((map) => (map === undefined ? [] : Object.entries(configMapSchema.parse(map).data)));
  const own = containers.flatMap(({ env }) => env.map(({ name, value }): [string, string] => [name, value]));
  return { args: containers.flatMap(({ args }) => args), variables: new Map([...ofMaps, ...own]) };
};

/** As a program reads it: the flag, else the variable. @param name of the flag, without dashes */
export const settingOf = ({ args, variables }: AgentSettings, name: string): string | undefined => {
  const flag = `--${name}=`;
  const given = args.find((one) => one.startsWith(flag))?.slice(flag.length);
  return given ?? variables.get(`UDN_${name.replaceAll('-', '_').toUpperCase()}`);
};
