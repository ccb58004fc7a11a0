/**
 * Files by which plugins of other networks say which devices they have given to pods (Device Information Specification 1.1.0, section 4.2).
 * Only root can write there, and no name comes from a pod.
 */
import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type DeviceInfo, MAX_DEVICE_INFO_BYTES, parseDeviceInfo } from '../../../api/device-info.ts';
import { messageOf } from '../../../base/error-message.ts';

export interface DeviceInfoFiles {
  /** @param index of the attachment, among those of other plugins */
  pathOf(containerId: string, index: number): string;
  /** Takes the file away, and sees to it that one can be written. */
  prepare(path: string): Promise<void>;
  /** Undefined: the plugin has written none. @throws Error that names the path when it cannot be read */
  read(path: string): Promise<DeviceInfo | undefined>;
  remove(path: string): Promise<void>;
}

/** Where the specification has them; `/run` of the host is in the agent's container. */
export const DEVICE_INFO_FOLDER = '/var/run/k8s.cni.cncf.io/devinfo/cni';

export const deviceInfoFiles = (folder: string = DEVICE_INFO_FOLDER): DeviceInfoFiles => ({
  // Ids of sandboxes are file names: `attachmentRequest` of api/cni/request.ts lets no other ones through.
  pathOf: (containerId, index) => join(folder, `${containerId}-${index}.json`),
  prepare: async (path) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    await rm(path, { force: true });
  },
  read: async (path) => {
    try {
      return parseDeviceInfo(await readBounded(path), path);
    } catch (cause) {
      if (Reflect.get(Object(cause), 'code') === 'ENOENT') return undefined;
      throw new Error(`${path} cannot be read: ${messageOf(cause)}`, { cause });
    }
  },
  remove: (path) => rm(path, { force: true }),
});

/** A link would show a file of the host to everybody who reads the pod, and a pipe would never end. */
const readBounded = async (path: string): Promise<string> => {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!(await file.stat()).isFile()) throw new Error('it is not a file');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_DEVICE_INFO_BYTES + 1), 0, MAX_DEVICE_INFO_BYTES + 1);
  if (bytesRead > MAX_DEVICE_INFO_BYTES) throw new Error(`it is longer than ${MAX_DEVICE_INFO_BYTES} bytes`);
  return buffer.toString('utf8', 0, bytesRead);
};
