# Every recipe that CI uses; all of them work on a developer's machine.

.PHONY: test lint bless browser

# All tests. The report's test drives a headless Chromium.
test: browser
	FULLPIPE_REQUIRE_CHROMIUM=1 cargo test --workspace

# What a commit has to pass besides its tests.
lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

# Rewrites golden files and generated pages; read the difference before committing it.
bless:
	FULLPIPE_BLESS=1 cargo test --workspace

browser:
	@browsers="chromium chromium-browser google-chrome"; \
	if command -v $$browsers >/dev/null && command -v chromedriver >/dev/null; then \
	    :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update && DEBIAN_FRONTEND=noninteractive \
	        apt-get install --yes --no-install-recommends chromium chromium-driver; \
	else \
	    echo "The report's test needs chromium and chromedriver. On Debian:" >&2; \
	    echo "    sudo apt-get install chromium chromium-driver" >&2; \
	    exit 1; \
	fi
