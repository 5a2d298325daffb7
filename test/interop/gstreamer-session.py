"""A WHIP or WHEP session of GStreamer's webrtcbin: opens it, hears or sends sound, ends it, and prints what happened as JSON.

    gstreamer-session.py listen|publish ENDPOINT
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

LIMIT_S = 40
WANTED_FRAMES = 50  # a second of sound above the threshold
AUDIBLE_DB = -40
OPUS = "application/x-rtp,media=audio,encoding-name=OPUS,encoding-params=(string)2,clock-rate=48000,payload=97"

SOURCE = f"audiotestsrc is-live=true ! audioconvert ! opusenc ! rtpopuspay pt=97 ! capsfilter caps={OPUS}"


def request(method, url, body=None, headers=None):
    made = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(made, timeout=LIMIT_S) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


class Session:
    def __init__(self, use, endpoint):
        self.endpoint = endpoint
        self.loop = GLib.MainLoop()
        self.report = {"audible": 0, "statuses": [], "states": []}
        self.resource = None
        self.pipeline = Gst.Pipeline.new()
        self.peer = Gst.ElementFactory.make("webrtcbin")
        self.peer.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        self.pipeline.add(self.peer)
        if use == "publish":
            source = Gst.parse_bin_from_description(SOURCE, True)
            self.pipeline.add(source)
            source.link(self.peer)
        self.use = use
        self.offered = False
        self.peer.connect("on-negotiation-needed", lambda peer: GLib.idle_add(self.offer))
        self.peer.connect("notify::ice-gathering-state", self.gathered)
        self.peer.connect("notify::connection-state", self.changed)
        self.peer.connect("pad-added", self.play)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.message)
        if use == "listen":
            direction = GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY
            self.peer.emit("add-transceiver", direction, Gst.Caps.from_string(OPUS))

    def run(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        GLib.timeout_add_seconds(LIMIT_S, self.end)
        self.loop.run()
        if self.resource:
            self.report["statuses"].append(request("DELETE", self.resource)[0])
        self.pipeline.set_state(Gst.State.NULL)
        return self.report

    def end(self):
        self.loop.quit()
        return False

    def offer(self):
        if self.offered:
            return False
        self.offered = True
        if self.use == "publish":
            transceiver = self.peer.emit("get-transceiver", 0)
            transceiver.set_property("direction", GstWebRTC.WebRTCRTPTransceiverDirection.SENDONLY)
        self.peer.emit("create-offer", None, Gst.Promise.new_with_change_func(self.made))
        return False

    def made(self, promise):
        promise.wait()
        reply = promise.get_reply()  # it owns the offer
        offer = reply.get_value("offer")
        self.peer.emit("set-local-description", offer, Gst.Promise.new())

    def gathered(self, peer, _state):
        if peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            GLib.idle_add(self.exchange)

    def exchange(self):
        if self.resource:
            return False
        offer = self.peer.get_property("local-description").sdp.as_text()
        status, headers, answer = request(
            "POST", self.endpoint, offer.encode(), {"Content-Type": "application/sdp"}
        )
        self.report["statuses"].append(status)
        if status != 201:
            self.report["refusal"] = answer
            return self.end()
        self.resource = urllib.parse.urljoin(self.endpoint, headers["Location"])
        print(json.dumps({"resource": self.resource}), flush=True)
        _, message = GstSdp.SDPMessage.new_from_text(answer)
        described = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
        self.peer.emit("set-remote-description", described, Gst.Promise.new())
        return False

    def changed(self, peer, _state):
        state = peer.get_property("connection-state").value_nick
        self.report["states"].append(state)
        if state == "connected" and self.use == "publish":
            GLib.timeout_add(200, self.look)
        if state == "failed":
            GLib.idle_add(self.end)

    def look(self):
        """Ends the session once the server has reported on a second of sound."""
        self.peer.emit("get-stats", None, Gst.Promise.new_with_change_func(self.counted))
        return True

    def counted(self, promise):
        promise.wait()
        stats = promise.get_reply()
        for at in range(stats.n_fields()):
            entry = stats.get_value(stats.nth_field_name(at))
            if not isinstance(entry, Gst.Structure):
                continue
            if entry.has_field("packets-sent"):
                self.report["sent"] = entry.get_value("packets-sent")
            if "remote-inbound" in entry.get_name():
                self.report["reported"] = entry.to_string()
        if self.report.get("sent", 0) >= WANTED_FRAMES and "reported" in self.report:
            GLib.idle_add(self.end)

    def play(self, _peer, pad):
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        sink = Gst.parse_bin_from_description(
            "rtpopusdepay ! opusdec ! audioconvert ! level interval=20000000 ! fakesink sync=true", True
        )
        self.pipeline.add(sink)
        sink.sync_state_with_parent()
        pad.link(sink.get_static_pad("sink"))

    def message(self, _bus, message):
        if message.type == Gst.MessageType.ERROR:
            self.report["error"] = str(message.parse_error())
            self.end()
        found = message.get_structure()
        if found and found.get_name() == "level" and max(found.get_value("rms")) > AUDIBLE_DB:
            self.report["audible"] += 1
            if self.report["audible"] == WANTED_FRAMES:
                self.end()


Gst.init(None)
print(json.dumps(Session(*sys.argv[1:]).run()))
