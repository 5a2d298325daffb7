// Starts the Firefox of the machine without a driver: it opens one page, in a profile of its own, and asks
// nothing of any other machine.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFERENCES: Readonly<Record<string, string | number | boolean>> = {
  // A call on loopback, without a click and without mDNS names.
  'media.peerconnection.ice.loopback': true,
  'media.peerconnection.ice.obfuscate_host_addresses': false,
  'media.autoplay.default': 0,
  'media.autoplay.blocking_policy': 0,
  // OpenH264 would be downloaded.
  'media.gmp-manager.url': '',
  'media.gmp-manager.updateEnabled': false,
  'media.gmp-gmpopenh264.enabled': false,
  'network.proxy.type': 0,
  'network.dns.disablePrefetch': true,
  'network.prefetch-next': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.trr.mode': 5,
  'app.update.enabled': false,
  'app.update.auto': false,
  'app.normandy.enabled': false,
  'app.shield.optoutstudies.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.newtabpage.enabled': false,
  'browser.newtabpage.activity-stream.feeds.system.topstories': false,
  'browser.region.network.url': '',
  'browser.region.update.enabled': false,
  'browser.safebrowsing.downloads.enabled': false,
  'browser.safebrowsing.downloads.remote.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.safebrowsing.update.enabled': false,
  'browser.safebrowsing.provider.google4.updateURL': '',
  'browser.safebrowsing.provider.mozilla.updateURL': '',
  'browser.search.update': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'datareporting.healthreport.uploadEnabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.push.connection.enabled': false,
  'extensions.blocklist.enabled': false,
  'extensions.getAddons.cache.enabled': false,
  'extensions.systemAddon.update.enabled': false,
  'extensions.update.enabled': false,
  'geo.enabled': false,
  'messaging-system.rsexperimentloader.enabled': false,
  'security.OCSP.enabled': 0,
  'security.remote_settings.crlite_filters.enabled': false,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'toolkit.telemetry.enabled': false,
  'toolkit.telemetry.server': '',
  'toolkit.telemetry.unified': false,
};

export class InstalledFirefox {
  readonly #process: ChildProcess;
  readonly #profile: string;

  private constructor(process: ChildProcess, profile: string) {
    this.#process = process;
    this.#profile = profile;
  }

  static open(url: string): InstalledFirefox {
    const profile = mkdtempSync(join(tmpdir(), 'parley-firefox-'));
    const lines = Object.entries(PREFERENCES).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
    );
    writeFileSync(join(profile, 'user.js'), `${lines.join('\n')}\n`);
    const child = spawn(
      process.env['FIREFOX_PATH'] ?? 'firefox-esr',
      ['--headless', '--no-remote', '--profile', profile, url],
      {
        stdio: 'ignore',
        env: { ...process.env, HOME: profile, MOZ_HEADLESS: '1', MOZ_CRASHREPORTER_DISABLE: '1' },
      },
    );
    child.on('error', () => undefined); // the page's first answer does not come then
    return new InstalledFirefox(child, profile);
  }

  async close(): Promise<void> {
    const { exitCode, signalCode, pid } = this.#process;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      const exit = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await exit;
    }
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
