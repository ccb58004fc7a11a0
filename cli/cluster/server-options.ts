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
Flags of kubectl that say how the API server is reached, and as whom, have their meaning here: see kubectl options.`;

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
  new Option('--kubeconfig <file>', 'how the API server is reached, instead of KUBECONFIG'),
  new Option('--context <context>', 'of the kubeconfig, instead of its current one'),
];

const kubectlOptions = (): Option[] => [
  new Option('--cluster <cluster>', 'of the kubeconfig, instead of that of the context'),
  new Option('--user <user>', 'of the kubeconfig, instead of that of the context'),
  new Option('-s, --server <url>', 'address of the API server'),
  new Option('--tls-server-name <hostname>', 'name that the certificate of the server has'),
  new Option('--insecure-skip-tls-verify', 'take any certificate of the server'),
  new Option('--certificate-authority <file>', 'who signed the certificate of the server'),
  new Option('--client-certificate <file>', 'certificate of who asks'),
  new Option('--client-key <file>', 'key of that certificate'),
  new Option('--token <token>', 'token of who asks'),
  new Option('--as <username>', 'ask as somebody else'),
  new Option('--as-uid <uid>', 'UID of that user'),
  new Option('--as-group <group>', 'a group of that user; may be repeated').argParser(collected),
  new Option('--request-timeout <duration>', 'of one request: 30, 5s, 1m30s; 0 is for ever').argParser(readTimeout),
];

const readTimeout = (text: string): number => {
  const milliseconds = parseTimeout(text);
  if (milliseconds === undefined) throw new InvalidArgumentError('It is a number of seconds, or 500ms, 5s, 1m30s, 1h.');
  return milliseconds;
};

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Names of the options, as the code has them. */
export const SERVER_OPTIONS: readonly string[] = serverOptions().map((one) => one.attributeName());
