import { type Command, Option } from 'commander';
import {
  API_KINDS,
  DNS_KINDS,
  EGRESSES,
  ENCRYPTIONS,
  GATEWAY_MODES,
  IP_FAMILIES,
  KERNELS,
  KUBELET_KINDS,
  NEEDS,
  OVN_KINDS,
  parseOptions,
  type SandboxOptionsInput,
  UPLINKS,
} from '../plan/options.ts';
import { startDetached } from '../supervisor/detached.ts';
import { secondsOf } from './duration.ts';
import { sandboxCommand } from './options.ts';

interface UpOptions extends Omit<SandboxOptionsInput, 'timeoutSeconds'> {
  readonly timeout: string;
}

export const addUpCommand = (program: Command): void => {
  sandboxCommand(program, 'up')
    .description('start a cluster; returns when every node is Ready')
    .addOption(new Option('--nodes <count>', 'how many nodes').env('UDN_NODES').default('2'))
    .addOption(choice('--gateway-mode <mode>', 'how pods leave a node', GATEWAY_MODES, 'shared'))
    .addOption(choice('--ip-family <family>', 'addresses of nodes, pods and Services', IP_FAMILIES, 'dual'))
    .addOption(
      choice(
        '--uplink <kind>',
        'what creates the gateway bridge: bridge (it exists), nic (the agent)',
        UPLINKS,
        'bridge',
      ),
    )
    .addOption(
      choice('--ovn <kind>', 'what runs OVS and OVN: services of the nodes, or pods of yours', OVN_KINDS, 'services'),
    )
    .addOption(
      new Option('--api <kind>', 'the API server; default: embedded, for real kubelets kube')
        .choices(API_KINDS)
        .env('UDN_API'),
    )
    .addOption(choice('--kubelet <kind>', 'the kubelets', KUBELET_KINDS, 'builtin'))
    .addOption(choice('--dns <kind>', 'DNS server for names of Services', DNS_KINDS, 'none'))
    .addOption(choice('--egress <kind>', 'how the API server reaches Services and pods', EGRESSES, 'none'))
    .addOption(
      choice('--encryption <kind>', "of tunnels between nodes; ipsec needs the kernel's datapath", ENCRYPTIONS, 'none'),
    )
    .addOption(choice('--kernel <kind>', 'whose kernel the nodes use', KERNELS, 'auto'))
    .addOption(
      new Option('--needs <list>', `what the kernel has to have: some of ${NEEDS.join(',')}`)
        .env('UDN_NEEDS')
        .default(''),
    )
    .addOption(
      new Option(
        '--programs <list>',
        'what runs beside OVS and OVN: all, none, or some of kubelet,cluster-manager,agent',
      )
        .env('UDN_PROGRAMS')
        .default('all'),
    )
    .addOption(
      new Option('--timeout <duration>', 'how long to wait, for example 90s').env('UDN_TIMEOUT').default('120s'),
    )
    .action(async ({ timeout, ...given }: UpOptions) => {
      const options = { ...given, timeoutSeconds: secondsOf(timeout) };
      parseOptions(options);
      const start = performance.now();
      await startDetached(options, (message) => process.stderr.write(`${message}\n`));
      process.stderr.write(`up after ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
    });
};

const choice = (flags: string, text: string, choices: readonly string[], byDefault: string): Option => {
  const option = new Option(flags, text).choices(choices).default(byDefault);
  return option.env(`UDN_${option.name().replaceAll('-', '_').toUpperCase()}`);
};
