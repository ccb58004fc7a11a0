/**
 * How the API server is reached and as whom: kubectl's own flags, with its meaning. All but the first two are hidden in the
 * help of a command, where they would hide what the command is about.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ConnectionOverrides } from '../../kube/config/overrides.ts';
import { parseTimeout } from './request-timeout.ts';

export interface ServerOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** A name; of a command that has a flag of its own: true, which says nothing about the kubeconfig. */
  readonly cluster?: string | boolean;
  readonly user?: string;
  readonly server?: string;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly token?: string;
  readonly as?: string;
  readonly asUid?: string;
  readonly asGroup?: readonly string[];
  /** In milliseconds. */
  readonly requestTimeout?: number;
}

export const overridesOf = (options: ServerOptions): ConnectionOverrides => {
  const { cluster, user, server, tlsServerName, insecureSkipTlsVerify, certificateAuthority } = options;
  const { clientCertificate, clientKey, token, as, asUid, asGroup } = options;
  return {
    cluster: typeof cluster === 'string' && !YES.includes(cluster) ? cluster : undefined,
    ...{ user, server, tlsServerName, insecureSkipTlsVerify, certificateAuthority },
    ...{ clientCertificate, clientKey, token, as, asUid, asGroups: asGroup },
  };
};

/** What an environment variable says of a flag that needs no value. */
const YES: readonly string[] = ['', '1', 'true'];

/** The placeholders say what a shell may complete: see completion/. */
export const withServer = (command: Command): Command => {
  for (const option of serverOptions()) {
    const isTaken = command.options.some(({ long }) => long === option.long);
    if (!isTaken) command.addOption(option);
  }
  return command.addHelpText('after', OTHERS);
};

const OTHERS = `
The flags of kubectl that select the API server and the user are accepted with the same meaning: see kubectl options.`;

/** What a command line that is being typed says of them. @param values by the long names of options */
export const serverOptionsOf = (values: ReadonlyMap<string, string>): ServerOptions =>
  Object.fromEntries(
    serverOptions().flatMap((option): [string, unknown][] => {
      const value = values.get(option.name());
      if (value === undefined) return [];
      const read = option.isBoolean() ? true : (option.parseArg?.(value, undefined) ?? value);
      return [[option.attributeName(), read]];
    }),
  );

const serverOptions = (): Option[] => [...shownOptions(), ...kubectlOptions().map((one) => one.hideHelp())];

const shownOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'kubeconfig file to use instead of KUBECONFIG'),
  new Option('--context <context>', 'kubeconfig context to use instead of the current one'),
];

const kubectlOptions = (): Option[] => [
  new Option('--cluster <cluster>', 'kubeconfig cluster to use instead of that of the context'),
  new Option('--user <user>', 'kubeconfig user to use instead of that of the context'),
  new Option('-s, --server <url>', 'address of the API server'),
  new Option('--tls-server-name <hostname>', 'server name to verify in the certificate of the API server'),
  new Option('--insecure-skip-tls-verify', 'accept any certificate of the API server'),
  new Option('--certificate-authority <file>', 'certificate authority of the API server'),
  new Option('--client-certificate <file>', 'client certificate'),
  new Option('--client-key <file>', 'key of the client certificate'),
  new Option('--token <token>', 'bearer token'),
  new Option('--as <username>', 'user to impersonate'),
  new Option('--as-uid <uid>', 'UID to impersonate'),
  new Option('--as-group <group>', 'group to impersonate; repeatable').argParser(collected),
  new Option('--request-timeout <duration>', 'timeout of one request: 30, 5s, 1m30s; 0 means none').argParser(
    readTimeout,
  ),
];

const readTimeout = (text: string): number => {
  const milliseconds = parseTimeout(text);
  if (milliseconds === undefined)
    throw new InvalidArgumentError('Expected a number of seconds, or 500ms, 5s, 1m30s, 1h.');
  return milliseconds;
};

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Names of the options, as the code has them. */
export const SERVER_OPTIONS: readonly string[] = serverOptions().map((one) => one.attributeName());
