/**
 * A CNI plugin for tests of the sandbox itself: a veth into the pod with an address that is derived from the container
 * id. It notes every call, fails while a file says so, and is as idempotent as a plugin has to be.
 */
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CNI_BIN, CNI_CONF } from '../machine/node-root.ts';

/** Paths on the node. */
export const CALLS = '/run/fake-cni.calls';
/** What is in it is printed instead of a result, with exit status 1. Named by the command. */
export const failureFile = (command: string): string => `/run/fake-cni.fail.${command}`;

export const CONF_FILE = join(CNI_CONF, '10-fake.conf');
export const CONF = JSON.stringify({ cniVersion: '1.1.0', name: 'fake', type: 'fake-cni', greeting: 'hello' });

const PLUGIN = `#!/bin/bash
input=$(cat)
printf '%s %s %s %s\\n' "$CNI_COMMAND" "$CNI_CONTAINERID" "$CNI_NETNS" "$CNI_ARGS" >> ${CALLS}
printf '%s\\n' "$input" > "${CALLS}.$CNI_COMMAND"
if [ -f "${failureFile('$CNI_COMMAND')}" ]; then cat "${failureFile('$CNI_COMMAND')}"; exit 1; fi
port="f\${CNI_CONTAINERID:0:10}"
case $CNI_COMMAND in
ADD)
  number=$((16#\${CNI_CONTAINERID:0:4} % 65000 + 200))
  address="10.77.$((number / 256)).$((number % 256))"
  ip link add "$port" type veth peer name "$CNI_IFNAME" netns "$(basename "$CNI_NETNS")" || exit 1
  ip link set "$port" up
  ip addr add 10.77.0.1/32 dev "$port"
  ip route add "$address/32" dev "$port"
  ip -n "$(basename "$CNI_NETNS")" link set "$CNI_IFNAME" up
  ip -n "$(basename "$CNI_NETNS")" addr add "$address/16" dev "$CNI_IFNAME"
  printf '{"cniVersion":"1.1.0","interfaces":[{"name":"%s","sandbox":"%s"}],"ips":[{"address":"%s/16","interface":0}]}' \\
    "$CNI_IFNAME" "$CNI_NETNS" "$address"
  ;;
DEL) ip link del "$port" 2>/dev/null || true ;;
esac
`;

export interface NodeFiles {
  pathOf(path: string): string;
}

export const installFakeCni = async (node: NodeFiles): Promise<void> => {
  const path = node.pathOf(join(CNI_BIN, 'fake-cni'));
  await writeFile(path, PLUGIN);
  await chmod(path, 0o755);
  await writeFile(node.pathOf(CONF_FILE), CONF);
};

export const failOn = (node: NodeFiles, command: string, output: string): Promise<void> =>
  writeFile(node.pathOf(failureFile(command)), output);

export const succeedOn = (node: NodeFiles, command: string): Promise<void> =>
  rm(node.pathOf(failureFile(command)), { force: true });

export interface FakeCniCall {
  readonly command: string;
  readonly containerId: string;
  readonly netns: string;
  readonly args: string;
}

export const fakeCniCalls = async (node: NodeFiles): Promise<FakeCniCall[]> => {
  const content = await readFile(node.pathOf(CALLS), 'utf8').catch(() => '');
  return content
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [command = '', containerId = '', netns = '', args = ''] = line.split(' ');
      return { command, containerId, netns, args };
    });
};
