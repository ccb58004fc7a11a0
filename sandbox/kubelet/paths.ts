/** Files of the kubelet stand-in on its node. */

/** One JSON file per pod that has containers: how to enter them. */
export const EXEC_FOLDER = '/run/sandbox-kubelet/exec';
/** Pid and exit files of containers. */
export const CONTAINER_FOLDER = '/run/sandbox-kubelet/containers';
/** What has to survive the kubelet: one JSON file per pod sandbox. */
export const SANDBOX_FOLDER = '/var/lib/sandbox-kubelet/sandboxes';
/** Empty folders to mount containers' roots on. */
export const MOUNT_FOLDER = '/var/lib/sandbox-kubelet/mounts';
export const LOG_FOLDER = '/var/log/pods';

export const execFile = (namespace: string, pod: string): string => `${namespace}_${pod}.json`;
/** Pods' /etc/hosts. */
export const HOSTS_FOLDER = '/run/sandbox-kubelet/hosts';
/** Their /etc/resolv.conf, where a DNS server is. */
export const RESOLV_FOLDER = '/run/sandbox-kubelet/resolv';
