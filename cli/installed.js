// Plain JavaScript without packages: it runs before anything is installed, on whatever Node the machine has.
if (!process.features.typescript || !hasPackages()) {
  console.error('Run npm ci first: it installs the packages of Partner Relay, and the Node that runs it.');
  process.exit(1);
}

function hasPackages() {
  try {
    return import.meta.resolve('commander') !== undefined;
  } catch {
    return false;
  }
}
